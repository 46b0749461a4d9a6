// random_tile.cc - the grammar of tile kernels; see random_kernel.h.
//
// What a kernel computes does not depend on its block sizes, for variants of one kernel have different ones.
#include "random_choices.h"

namespace {

// Axes of a value.
enum Axes { ROWS, BOTH };

class TileMaker {
    Choices &choices;
    std::string body, helper;
    std::string rows = "tm", columns = "tn";  // indices of the two axes
    bool columns_are_tile = true;             // else all of the axis
    int indent = 1, names = 0;
    std::vector<std::string> blocks, per_row;  // names of values of BOTH and of ROWS, int32

    int pick(int n)
    {
        return choices.pick(n);
    }

    std::string new_name()
    {
        return "v" + std::to_string(names++);
    }

    void line(const std::string &text)
    {
        body += std::string((size_t)indent * 4, ' ') + text + "\n";
    }

    std::string block_size(bool must)
    {
        static const char *const sizes[] = { "16", "8", "32", "64", "4" };
        return !must && pick(2) ? "" : ", block_size=" + std::string(choices.one_of(sizes));
    }

    // An index of rows as a column beside blocks of BOTH.
    std::string row_number()
    {
        return rows == "tm" ? "tm.index[:, None]" : rows;
    }

    std::string leaf(Axes axes)
    {
        if (axes == ROWS) {
            switch (pick(5)) {
            case 1: return rows == "tm" ? "tm.index" : rows;
            case 2: return "a[" + rows + ", 0].to(nl.int32)";
            case 3: return per_row.empty() ? "n" : per_row[(size_t)pick((int)per_row.size())];
            case 4: return std::to_string(pick(50));
            default: return "p[" + rows + ", 0]";
            }
        }
        switch (pick(8)) {
        case 1: return row_number();
        case 2: return "row[" + columns + "]" + (rows == "tm" ? "[None, :]" : "");
        case 3: return columns_are_tile ? std::string("tn.index") + (rows == "tm" ? "[None, :]" : "") : "n";
        case 4: return std::to_string(1 + pick(50));
        case 5: return blocks.empty() ? "n" : blocks[(size_t)pick((int)blocks.size())];
        case 6: return per_row.empty() || rows != "tm" ? "n" : per_row[(size_t)pick((int)per_row.size())] + "[:, None]";
        case 7: return rows == "tm" ? "p[(tm.index * 3) % 40, " + columns + "]" : "p[0, " + columns + "]";
        default: return "p[" + rows + ", " + columns + "]";
        }
    }

    // Of both axes.
    std::string expression(int depth)
    {
        static const char *const plain[] = { " + ", " - ", " * ", " & ", " ^ ", " | " };
        static const char *const narrow[] = { "int8", "int16", "uint8", "float32", "int1" };
        if (depth == 0)
            return blocks.empty() || pick(2) ? "p[" + rows + ", " + columns + "]" : blocks[(size_t)pick((int)blocks.size())];
        const std::string x = expression(depth - 1);
        switch (pick(6)) {
        case 1: return "dt.maximum(" + x + ", " + leaf(BOTH) + ")";
        case 2: return "dt.where(" + x + " > " + leaf(BOTH) + ", " + leaf(BOTH) + ", " + x + ")";
        case 3: return "(" + x + " & 127).to(nl." + choices.one_of(narrow) + ").to(nl.int32)";
        case 4:
            helper = "@newt.jit\ndef helper(x, y):\n    return dt.where(x < y, y - x, x)\n\n\n";
            return "helper(" + x + ", " + leaf(BOTH) + ")";
        default: return "(" + x + choices.one_of(plain) + leaf(BOTH) + ")";
        }
    }

    std::string reduced(bool may_number)
    {
        static const char *const kinds[] = { "sum", "amax", "amin", "xor_sum", "argmax", "argmin" };
        const std::string v = blocks.empty() || pick(2) ? expression(2) : blocks[(size_t)pick((int)blocks.size())];
        return "dt." + std::string(kinds[pick(may_number ? 6 : 4)]) + "(" + v + ", axis=" + (rows == "tm" ? "1" : "0") + ")";
    }

    void assign()
    {
        const std::string text = expression(1 + pick(3)), name = new_name();
        line(name + " = " + text);
        blocks.push_back(name);
    }

    // A block changes on some ways.
    void change()
    {
        static const char *const heads[] = { "if n > 49:", "if n < 3:", "for j in range(0, n - 47):", "for j in dt.static_range(2):" };
        if (blocks.empty())
            assign();
        const std::string name = blocks.back();
        const bool by_row = rows != "tm" && pick(2);
        line(by_row ? "if " + rows + " % 2 == 0:" : choices.one_of(heads));
        line("    " + name + " = " + name + " + " + expression(1));
    }

    // Sums of small whole numbers, exact in every order.
    void product()
    {
        const std::string sum = new_name(), name = new_name();
        const bool accumulates = pick(2);
        line(sum + " = dt.zeros([tm, tn], dtype=nl.float32)");
        line("for tk in dt.tile(a.shape[1]" + (pick(2) ? ", block_size=" + std::string(pick(2) ? "32" : "16") : "") + "):");
        const std::string factors[] = { "a[tm, tk]", pick(2) ? "b[tk, tn]" : "bt[tn, tk].T" };
        line(accumulates ? "    " + sum + " = dt.dot(" + factors[0] + ", " + factors[1] + ", " + sum + ")"
                         : "    " + sum + " += " + factors[0] + " @ " + factors[1]);
        line(name + " = " + sum + ".to(nl.int32)");
        blocks.push_back(name);
    }

    void statements(bool may_multiply)
    {
        for (int count = 1 + pick(3); count > 0; count--)
            switch (pick(4)) {
            case 2: change(); break;
            case 3:
                if (may_multiply) {
                    product();
                    break;
                }
                // fall through
            default: assign();
            }
    }

    void store()
    {
        const std::string v = blocks.empty() ? expression(1) : blocks.back(), at = "[" + rows + ", " + columns + "]";
        line("out" + at + " = " + (pick(2) ? expression(1) + " + " : "") + v);
        if (pick(2))
            line("fout" + at + " = (" + v + " & 15).to(nl.float32)");
    }

    // A program for each block.
    void of_blocks()
    {
        const bool sized = pick(2), with_product = pick(2);
        line("for tm, tn in dt.tile([p.shape[0], p.shape[1]]" + std::string(sized ? ", block_size=[16, 32]" : "") + "):");
        indent++;
        if (with_product)
            product();
        statements(true);
        store();
        if (pick(2))
            line("dt.atomic_add(each, [tm], dt.sum(" + expression(2) + ", axis=1).to(nl.int64))");
        else if (pick(2))
            line("dt.atomic_max(each, [tm], dt.amax(" + expression(2) + ", axis=1).to(nl.int64))");
        indent--;
    }

    // A program for some rows, each as a whole.
    void of_rows()
    {
        line("for tm in dt.tile(p.shape[0]" + block_size(false) + "):");
        indent++;
        columns = ":";
        columns_are_tile = false;
        statements(false);
        for (int count = pick(3); count > 0; count--) {
            const std::string text = reduced(true), name = new_name();
            line(name + " = " + text);
            per_row.push_back(name);
            if (pick(2))
                line(name + " = " + name + " - " + leaf(ROWS));
            if (pick(2))
                assign();
        }
        store();
        if (!per_row.empty())
            line("each[tm] = " + per_row.back());
        indent--;
    }

    // Columns in a loop, all of them or as far as the rows go; also one row at a time.
    void of_loops(bool may_be_triangle)
    {
        const bool single = pick(4) == 3, triangle = may_be_triangle && !single && pick(2);
        rows = single ? "i" : "tm";
        line(single ? "for i in dt.grid(p.shape[0]):" : "for tm in dt.tile(p.shape[0]" + block_size(false) + "):");
        indent++;
        const std::string total = new_name();
        line(total + " = " + (single ? "0" : "dt.zeros([tm], dtype=nl.int32)"));
        line("for tn in dt.tile(" + std::string(triangle ? "tm.end" : "p.shape[1]") + block_size(false) + "):");
        indent++;
        statements(!single);
        const std::string v = blocks.back();
        if (triangle)
            line(v + " = dt.where(tm.index[:, None] >= tn.index[None, :], " + v + ", 0)");
        line(total + (pick(2) ? " += dt.sum(" : " ^= dt.xor_sum(") + v + ", axis=" + (single ? "0" : "1") + ")");
        if (!triangle && pick(2))
            store();
        indent--;
        line("each[" + rows + "] = " + total);
        indent--;
    }

public:
    explicit TileMaker(Choices &c) : choices(c)
    {
    }

    std::string make(const std::string &name)
    {
        static const int sizes[] = { 64, 16, 33, 1, 50, 7 }, depths[] = { 32, 100, 1, 37, 64 };
        const int m = choices.one_of(sizes), n = choices.one_of(sizes), k = choices.one_of(depths), turned = pick(16);
        switch (pick(4)) {
        case 1: of_rows(); break;
        case 2: of_loops(m <= n); break;
        default: of_blocks(); break;
        }
        return "# tile: " + std::to_string(m) + ", " + std::to_string(n) + ", " + std::to_string(k) + ", " + std::to_string(turned) +
               "\nimport deuteron as dt\nimport newt\nimport newt.language as nl\nfrom newt.language import tensor\n\n\n" + helper +
               "@newt.tile\ndef " + name + "(p: tensor[nl.int32, \"M\", \"N\"], row: tensor[nl.int32, \"N\"], a: tensor[nl.float16, \"M\", \"K\"],\n"
               "       b: tensor[nl.float16, \"K\", \"N\"], bt: tensor[nl.float16, \"N\", \"K\"], out: tensor[nl.int64, \"M\", \"N\"],\n"
               "       fout: tensor[nl.float64, \"M\", \"N\"], each: tensor[nl.int64, \"M\"], n: nl.int32):\n" + body;
    }
};

}  // namespace

std::string random_tile_kernel(Choices &choices, const std::string &name)
{
    return TileMaker(choices).make(name);
}
