# roff.awk - turns what newtc prints about itself into manual text, in the place of the line @KIND@ of the page.
#
#   awk -v kind=OPTIONS -v text=FILE -f roff.awk page.in      FILE holds `newtc --help`
#   awk -v kind=BUILTINS -v text=FILE -f roff.awk page.in     FILE holds `newtc --print-ops`
function quote(s)
{
    gsub(/\\/, "\\e", s)
    gsub(/-/, "\\-", s)
    if (s ~ /^[.']/)
        s = "\\&" s
    return s
}

function item(head, body)
{
    print ".TP"
    print ".B " quote(head)
    print quote(body)
}

# A group is a line of one word, an option begins in the third column, its text at or after the thirtieth.
function put_options(line, head, body)
{
    while ((getline line < text) > 0) {
        if (line ~ /^[a-z]+$/)
            print ".SS " toupper(substr(line, 1, 1)) substr(line, 2)
        else if (line ~ /^  -/) {
            head = substr(line, 3)
            body = ""
            if (match(head, /  +/) && length(line) > 29 && substr(line, 29, 1) == " ") {
                body = substr(line, 30)
                head = substr(line, 3, 26)
                sub(/ +$/, "", head)
            }
            if (body != "")
                item(head, body)
        } else if (line ~ /^      / && head != "") {
            sub(/^ +/, "", line)
            item(head, line)
        }
    }
}

# A name with parameters, then its text, indented.
function put_builtins(line, head)
{
    while ((getline line < text) > 0) {
        if (line !~ /^ /)
            head = line
        else {
            sub(/^ +/, "", line)
            item(head, line)
        }
    }
}

$0 == "@" kind "@" {
    if (kind == "OPTIONS")
        put_options()
    else
        put_builtins()
    next
}
{ print }
