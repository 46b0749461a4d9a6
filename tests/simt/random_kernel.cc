// random_kernel.cc - the grammar; see random_kernel.h.
#include "random_kernel.h"

#include "random_choices.h"

#include <algorithm>
#include <cstring>

namespace {

typedef std::vector<int> Shape;

struct Value {
    std::string name, type;  // "nl.int32"
    Shape shape;
};

const char *const int_types[] = { "int32", "int64", "int16", "int8", "uint32", "uint64", "uint16", "uint8" };
const char *const float_types[] = { "float32", "float16", "float64", "bfloat16" };
const char bool_type[] = "nl.int1";
// Operands of dot() and the type of their sum.
const struct {
    const char *operand, *sum;
} dot_types[] = { { "nl.float16", "nl.float32" }, { "nl.bfloat16", "nl.float32" },  { "nl.int8", "nl.int32" },
                  { "nl.float32", "nl.float32" }, { "nl.float8e4nv", "nl.float32" }, { "nl.float8e5", "nl.float32" },
                  { "nl.float64", "nl.float64" } };
enum { MOST_DOTS = 3, MOST_PRODUCTS = 1 };

bool is_float(const std::string &type)
{
    return type.find("float") != std::string::npos;
}

std::string shape_text(const Shape &s)
{
    std::string text = "(";
    for (int n : s)
        text += std::to_string(n) + ", ";
    return text + ")";
}

int elements(const Shape &s)
{
    int n = 1;
    for (int d : s)
        n *= d;
    return n;
}

class Maker {
    Choices &choices;
    const bool pairs;  // a kernel of products that programs side by side share the factors of
    std::string helpers, body;
    int indent = 1, names = 0, out_used = 0, fout_used = 0, nesting = 0, dots = 0, products = 0;
    std::vector<Value> values;
    std::vector<std::string> pairs_of_one_type;  // helpers (x, y) that another helper may call

    int pick(int n)
    {
        return choices.pick(n);
    }

    template <size_t N> std::string one_of(const char *const (&list)[N])
    {
        return std::string("nl.") + list[pick((int)N)];
    }

    std::string new_name()
    {
        return "v" + std::to_string(names++);
    }

    void line(const std::string &text)
    {
        body += std::string((size_t)indent * 4, ' ') + text + "\n";
    }

    Shape random_shape()
    {
        static const Shape shapes[] = { { 64 }, { 8 },      { 512 },     {},         { 8, 16 },  { 64, 8 },
                                        { 4, 4, 8 }, { 1, 32 }, { 2048 }, { 16, 16 }, { 32, 16 }, { 32, 32 } };
        return shapes[pick(sizeof shapes / sizeof *shapes)];
    }

    std::string random_type()
    {
        switch (pick(6)) {
        case 4: return one_of(float_types);
        case 5: return bool_type;
        default: return one_of(int_types);
        }
    }

    // The row-major number of each element, as int32.
    std::string index_of(const Shape &s)
    {
        if (s.empty())
            return "0";
        std::string text;
        int stride = elements(s);
        for (size_t k = 0; k < s.size(); k++) {
            stride /= s[k];
            std::string axis = "nl.arange(0, " + std::to_string(s[k]) + ")";
            if (s.size() > 1) {
                axis += "[";
                for (size_t j = 0; j < s.size(); j++)
                    axis += std::string(j ? ", " : "") + (j == k ? ":" : "None");
                axis += "]";
            }
            text += (k ? " + " : "") + axis + (stride > 1 ? " * " + std::to_string(stride) : "");
        }
        return "(" + text + ")";
    }

    std::string constant(const std::string &type, const Shape &s)
    {
        const int value = pick(is_float(type) ? 8 : 100);
        return "nl.full(" + shape_text(s) + ", " + std::to_string(value) + ", " + type + ")";
    }

    // A value in scope of this type and shape, else something made from the index.
    std::string leaf(const std::string &type, const Shape &s)
    {
        std::vector<const Value *> fit;
        for (const Value &v : values)
            if (v.type == type && v.shape == s)
                fit.push_back(&v);
        const int kind = pick(4);
        if (!fit.empty() && kind != 3)
            return fit[fit.size() - 1 - (size_t)pick((int)fit.size())]->name;
        if (type == bool_type)
            return "(" + leaf("nl.int32", s) + " % 3 == 1)";
        if (is_float(type))
            return "((" + expression("nl.int32", s, 0) + " & 7).to(" + type + "))";
        if (kind == 0)
            return constant(type, s);
        if (kind == 1)
            return "((" + index_of(s) + " + pid).to(" + type + "))";
        return load(s, kind == 3) + ".to(" + type + ")";
    }

    std::string load(const Shape &s, bool gathers)
    {
        static const char *const factors[] = { "1", "3", "2", "n", "7", "(pid + 1)" };
        std::string at = index_of(s) + " * " + factors[gathers ? pick(6) : 0] + " + pid * " + std::to_string(pick(8) * 8);
        std::string text = "nl.load(p + ((" + at + ") & 4095)";
        switch (pick(3)) {
        case 1: text += ", mask=" + index_of(s) + " < n"; break;
        case 2: text += ", mask=" + index_of(s) + " % 3 != 1, other=" + std::to_string(pick(9)); break;
        }
        return text + ")";
    }

    std::string condition(const Shape &s, int depth)
    {
        static const char *const comparisons[] = { "<", ">", "<=", "==", "!=", ">=" };
        const std::string type = pick(4) == 3 ? one_of(float_types) : one_of(int_types);
        return "(" + expression(type, s, depth - 1) + " " + comparisons[pick(6)] + " " + expression(type, s, depth - 1) + ")";
    }

    std::string bool_operation(const Shape &s, int depth)
    {
        static const char *const plain[] = { " & ", " | ", " ^ " };
        switch (pick(4)) {
        case 1: return "(~" + expression(bool_type, s, depth - 1) + ")";
        case 2: return "(" + expression(bool_type, s, depth - 1) + plain[pick(3)] + expression(bool_type, s, depth - 1) + ")";
        case 3: return "(" + expression(one_of(int_types), s, depth - 1) + ").to(nl.int1)";
        default: return condition(s, depth);
        }
    }

    std::string int_operation(const std::string &type, const Shape &s, int depth)
    {
        static const char *const plain[] = { "+", "-", "*", "&", "|", "^" };
        const std::string a = expression(type, s, depth - 1);
        switch (pick(9)) {
        case 6: return pick(2) ? "(~" + a + ")" : "(-" + a + ")";
        case 7: return "(" + a + " >> (" + expression(type, s, depth - 1) + " & 15))";
        case 8: return "nl.abs(" + a + ")";
        case 4: return "(" + a + " << (" + expression(type, s, depth - 1) + " & 7))";
        case 5: return "(" + a + (pick(2) ? " // " : " % ") + "(" + expression(type, s, depth - 1) + " | 1))";
        default: return "(" + a + " " + plain[pick(6)] + " " + expression(type, s, depth - 1) + ")";
        }
    }

    // Stays within -128 ... 128, so that every float type is exact.
    std::string float_operation(const std::string &type, const Shape &s)
    {
        static const char *const plain[] = { "+", "-", "*" };
        switch (pick(7)) {
        case 3: return "nl.abs(" + leaf(type, s) + ")";
        case 4: return "(-" + leaf(type, s) + ")";
        case 5: return leaf(type, s) + ".to(" + (pick(2) ? "nl.float8e5" : "nl.float8e4nv") + ").to(" + type + ")";
        case 6: return bounded(type, "(" + leaf(one_of(int_types), s) + ").to(" + type + ")");
        default: return "(" + leaf(type, s) + " " + plain[pick(3)] + " " + leaf(type, s) + ")";
        }
    }

    // A row and a column that broadcast without a word.
    std::string outer(const std::string &type, const Shape &s)
    {
        static const char *const plain[] = { " + ", " - ", " * " };
        return "(" + leaf(type, { s[0] }) + "[:, None]" + plain[pick(3)] + leaf(type, { s[1] }) + "[None, :])";
    }

    // One operand of dot(): small whole numbers, so that every sum is exact in every order.
    std::string dot_operand(const std::string &type, const Shape &s, int depth)
    {
        if (type == "nl.int8")
            return expression(type, s, depth - 1);
        const std::string wide = type.find("float8") != std::string::npos ? "nl.float16" : type;
        const std::string text = pick(3) ? leaf(wide, s) : "nl.trans(" + leaf(wide, { s[1], s[0] }) + ")";
        return bounded(wide, text) + (wide == type ? "" : ".to(" + type + ")");
    }

    std::string dot(const std::string &type, const Shape &s, int depth)
    {
        static const char *const precisions[] = { "", ", input_precision=\"ieee\"", ", input_precision=\"tf32x3\"" };
        if (s.size() != 2 || elements(s) > 2048 || s[0] < 8 || s[1] < 8 || dots == MOST_DOTS)
            return leaf(type, s);
        dots++;
        const auto &types = dot_types[pick(sizeof dot_types / sizeof *dot_types)];
        const int k = (strstr(types.operand, "8") ? 32 : 16) << pick(2);
        std::string text = "nl.dot(" + dot_operand(types.operand, { s[0], k }, depth) + ", " +
                           dot_operand(types.operand, { k, s[1] }, depth);
        if (pick(2))
            text += ", " + leaf(types.sum, s);
        if (std::string(types.operand) == "nl.float32")
            text += precisions[pick(3)];
        return is_float(type) ? bounded(type, text + ")") : text + ").to(" + type + ")";
    }

    // From a value with one axis more.
    std::string reduction(const std::string &type, const Shape &s, int depth)
    {
        static const char *const kinds[] = { "sum", "max", "min", "argmax", "argmin", "xor_sum" };
        Shape whole = s;
        const size_t axis = (size_t)pick((int)s.size() + 1);
        whole.insert(whole.begin() + (long)axis, 2 << pick(6));
        if (elements(whole) > 4096)
            return leaf(type, s);
        const int kind = pick(is_float(type) ? 5 : 6);
        const std::string of = "nl." + std::string(kinds[kind]) + "(" + expression(type, whole, depth - 1);
        std::string text = of + ", axis=" + std::to_string(axis) + ")";
        if (pick(3) == 2 && whole.size() == 1)
            text = of + ")";
        else if (pick(3) == 2 && !s.empty())
            text = "nl.reshape(" + of + ", axis=" + std::to_string(axis) + ", keep_dims=True), " + shape_text(s) + ")";
        return is_float(type) && kind != 1 && kind != 2 ? "(nl.minimum(" + text + ", 7).to(" + type + "))" : text + ".to(" + type + ")";
    }

    // From a value with one axis less, or with axes in another order, or of another shape.
    std::string movement(const std::string &type, const Shape &s, int depth)
    {
        if (s.size() < 2 || pick(3) == 2)
            return elements(s) > 1 ? "nl.reshape(" + expression(type, { elements(s) / 2, 2 }, depth - 1) + ", " + shape_text(s) + ")"
                                   : leaf(type, s);
        if (pick(2)) {
            Shape turned = s;
            std::swap(turned[s.size() - 1], turned[s.size() - 2]);
            return "nl.trans(" + expression(type, turned, depth - 1) + ")";
        }
        const size_t axis = (size_t)pick((int)s.size());
        Shape less = s;
        less.erase(less.begin() + (long)axis);
        return "nl.broadcast_to(nl.expand_dims(" + expression(type, less, depth - 1) + ", " + std::to_string(axis) + "), " +
               shape_text(s) + ")";
    }

    std::string call(const std::string &type, const Shape &s, int depth)
    {
        static const char *const bodies[] = { "x + y", "nl.where(x > y, x, y)", "nl.maximum(x, y) - nl.minimum(x, y)",
                                              "nl.where((x < y) & (y > 1), y, x - y)" };
        const std::string name = "helper" + std::to_string(names++);
        std::string text = "    return " + std::string(bodies[pick(4)]) + "\n";
        switch (pick(6)) {
        case 2: text = "    if nl.program_id(0) > 1:\n        return x\n" + text.substr(0, text.find("return")) + "return y\n"; break;
        case 3: text = "    for i in range(0, nl.program_id(0)):\n        x = nl.where(x < y, y, x)\n" + text; break;
        case 4:
            if (!pairs_of_one_type.empty())
                text = "    z = " + pairs_of_one_type[(size_t)pick((int)pairs_of_one_type.size())] + "(y, x)\n    return nl.where(z > x, z, y)\n";
            break;
        case 5: text = "    z = nl.minimum(x, y), nl.maximum(x, y)\n    return z[1] - z[0]\n"; break;
        }
        helpers += "@newt.jit\ndef " + name + "(x, y):\n" + text + "\n\n";
        pairs_of_one_type.push_back(name);
        return name + "(" + expression(type, s, depth - 1) + ", " + expression(type, s, depth - 1) + ")";
    }

    std::string expression(const std::string &type, const Shape &s, int depth)
    {
        if (depth <= 0)
            return leaf(type, s);
        if (type == bool_type)
            return pick(3) ? bool_operation(s, depth) : movement(type, s, depth);
        switch (pick(11)) {
        case 8: return dot(type, s, depth);
        case 9: return s.size() == 2 ? outer(type, s) + ".to(" + type + ")" : leaf(type, s);
        case 10: return type == "nl.int32" ? "(" + leaf("nl.float32", s) + ").to(nl.int32, bitcast=True)" : "(" + expression(bool_type, s, depth - 1) + ").to(" + type + ")";
        case 1: return is_float(type) ? float_operation(type, s) : int_operation(type, s, depth) + ".to(" + type + ")";
        case 2: return reduction(type, s, depth);
        case 3: return movement(type, s, depth);
        case 4: return "nl.where(" + condition(s, depth) + ", " + expression(type, s, depth - 1) + ", " + expression(type, s, depth - 1) + ")";
        case 5: return is_float(type) ? leaf(type, s) : "(" + expression(one_of(int_types), s, depth - 1) + ").to(" + type + ")";
        case 6: return call(type, s, depth);
        case 7: return std::string("nl.") + (pick(2) ? "minimum(" : "maximum(") + expression(type, s, depth - 1) + ", " + expression(type, s, depth - 1) + ")";
        default: return leaf(type, s);
        }
    }

    std::string bounded(const std::string &type, const std::string &text)
    {
        return is_float(type) ? "nl.minimum(nl.maximum(" + text + ", -8), 8).to(" + type + ")" : text;
    }

    void assign()
    {
        const std::string type = random_type();
        const Shape s = random_shape();
        const std::string text = bounded(type, expression(type, s, 1 + pick(3))), name = new_name();
        line(name + " = " + text);
        values.push_back({ name, type, s });
    }

    // A value that exists already gets a new one of its type; gives its name.
    void update()
    {
        if (values.empty())
            return assign();
        const Value v = values[values.size() - 1 - (size_t)pick((int)values.size())];
        line(v.name + " = " + bounded(v.type, expression(v.type, v.shape, 1 + pick(2))));
    }

    void block()
    {
        indent++;
        nesting++;
        const size_t before = values.size();
        update();
        for (int count = pick(3); count > 0; count--)
            statement();
        values.resize(std::min(before, values.size()));
        nesting--;
        indent--;
    }

    // `leave` may end the round or the loop.
    void body_of_loop(const char *leave)
    {
        block();
        if (pick(3) == 2) {
            indent++;
            line("if " + condition({}, 1) + ":");
            line(std::string("    ") + leave);
            update();
            indent--;
        }
    }

    void loop()
    {
        static const char *const ranges[] = { "range(0, 3)",      "range(0, pid)",        "range(pid, 5, 2)",
                                              "range(3, 0, -1)", "nl.static_range(0, 3)" };
        if (values.empty())
            assign();
        const std::string name = new_name();
        const int kind = pick(6);
        if (kind == 5) {
            line(name + " = 0");
            line("while " + name + " < 1 + pid:");
            body_of_loop("break");
            line("    " + name + " += 1");
            return;
        }
        line("for " + name + " in " + ranges[kind] + ":");
        if (kind == 4)
            block();
        else
            body_of_loop(pick(2) ? "break" : "continue");
    }

    // A row or a column of numbers [first, first + count) as an axis of a block.
    static std::string axis_of(const std::string &first, int count, bool is_row)
    {
        return "(" + first + " + nl.arange(0, " + std::to_string(count) + "))" + (is_row ? "[:, None]" : "[None, :]");
    }

    // Declares how a factor of a product of `rows` by `columns` is loaded; gives the expression for its block at `k`. The
    // matrix has RANDOM_PITCH columns; `turned`: its rows are the factor's columns.
    std::string factor(const std::string &name, int rows, int columns, const std::string &row, const std::string &column, bool turned)
    {
        const std::string pitch = std::to_string((int)RANDOM_PITCH), r = axis_of(row, rows, true), c = axis_of(column, columns, false);
        switch (pick(4)) {
        case 1: {
            const std::string block = "[" + std::to_string(turned ? columns : rows) + ", " + std::to_string(turned ? rows : columns) + "]";
            line(name + " = nl.make_tensor_descriptor(h, [" + pitch + ", " + pitch + "], [" + pitch + ", 1], " + block + ")");
            return turned ? name + ".load([" + column + ", " + row + "]).T" : name + ".load([" + row + ", " + column + "])";
        }
        case 2: return "nl.load(h + (" + (turned ? c + " * " + pitch + " + " + r : r + " * " + pitch + " + " + c) + "))";
        default:
            return "nl.load(h + (" + (turned ? c + " * " + pitch + " + " + r : r + " * " + pitch + " + " + c) + "), mask=(" + r + " < " + std::to_string(40 + pick(90)) +
                   ") & (" + c + " < n + 30), other=0)";
        }
    }

    // A product of tiles of a matrix in a loop, with stages: what pipelines, the copy engine and warpgroups take. Sums of
    // small whole numbers are exact.
    void product()
    {
        static const int sizes[] = { 64, 32, 16, 128 };
        static const char *const ends[] = { "128", "n", "pid * 48", "96" };
        if (products++ == MOST_PRODUCTS)
            return update();
        const int m = sizes[pick(4)], n = sizes[pick(3)], k = sizes[pick(3)], stages = 1 + pick(4);
        const std::string sum = new_name(), at = new_name(), a = new_name(), b = new_name();
        const std::string row = pick(2) ? pairs ? "pid // 2 * 16" : "pid * 16" : "0", column = pick(2) ? "pid * 8" : "0";
        line(sum + " = nl.zeros((" + std::to_string(m) + ", " + std::to_string(n) + "), nl.float32)");
        const std::string left = factor(a, m, k, row, at, pick(3) == 2), right = factor(b, k, n, at, column, pick(3) == 2);
        line("for " + at + " in nl.range(0, " + ends[pick(pairs ? 2 : 4)] + ", " + std::to_string(k) + ", num_stages=" + std::to_string(stages) + "):");
        line("    " + sum + " = nl.dot(" + left + ", " + right + ", " + sum + ")");
        if (pick(3) == 2)
            line("    " + sum + " = nl.maximum(" + sum + ", -64)");
        line(sum + " = " + bounded("nl.float32", sum));
        values.push_back({ sum, "nl.float32", { m, n } });
    }

    void leave_program()
    {
        line("if " + condition({}, 1) + ":");
        line("    return");
    }

    void branch()
    {
        if (values.empty())
            assign();
        line("if " + (pick(2) ? condition({}, 1) : std::string("pid > 0")) + ":");
        block();
        if (pick(2)) {
            line("else:");
            block();
        }
    }

    // Through memory of the program: what one thread stores another loads.
    void exchange()
    {
        static const Shape s = { 512 };
        const std::string name = new_name(), factor = std::to_string(1 + 2 * pick(8));
        line("nl.store(work + pid * 512 + nl.arange(0, 512), " + expression("nl.int32", s, 1) + ")");
        line(name + " = nl.load(work + pid * 512 + ((nl.arange(0, 512) * " + factor + " + " + std::to_string(pick(64)) + ") & 511))");
        values.push_back({ name, "nl.int32", s });
    }

    void store(const Value &v)
    {
        const int n = elements(v.shape);
        int &used = is_float(v.type) ? fout_used : out_used;
        if (used + n > RANDOM_SPAN)
            return;
        const std::string at = "pid * " + std::to_string((int)RANDOM_SPAN) + " + " + std::to_string(used);
        std::string mask;
        switch (pick(6)) {
        case 4: mask = ", mask=" + index_of(v.shape) + " % 5 != 2"; break;
        case 5: mask = ", mask=" + condition(v.shape, 1); break;
        }
        line(std::string("nl.store(") + (is_float(v.type) ? "fout" : "out") + " + " + at + (v.shape.empty() ? "" : " + " + index_of(v.shape)) +
             ", " + v.name + (is_float(v.type) ? ".to(nl.float64)" : ".to(nl.int64)") + (v.shape.empty() ? "" : mask) + ")");
        used += n;
    }

    // The values before: each element has an address of its own.
    void take_old()
    {
        static const char *const kinds[] = { "add", "max", "min", "xchg", "and", "or", "xor" };
        static const Shape s = { 512 };
        const std::string name = new_name();
        line(name + " = nl.atomic_" + kinds[pick(7)] + "(work + pid * 512 + (nl.arange(0, 512) ^ " + std::to_string(pick(64)) + "), " +
             expression("nl.int32", s, 1) + (pick(2) ? ", mask=" + condition(s, 1) : "") + ")");
        values.push_back({ name, "nl.int32", s });
    }

    void atomic()
    {
        if (out_used + 1 > RANDOM_SPAN)
            return;
        line("nl.atomic_add(out + pid * " + std::to_string((int)RANDOM_SPAN) + " + " + std::to_string(out_used++) + " + nl.zeros((64, ), nl.int32), " +
             expression("nl.int64", { 64 }, 1) + ")");
    }

    void statement()
    {
        switch (pick(nesting == 0 ? 11 : nesting < 2 ? 9 : 4)) {
        case 0:
        case 1: return assign();
        case 2: return update();
        case 3: return exchange();
        case 4: return loop();
        case 5: return branch();
        case 6: return nesting ? update() : take_old();
        case 7: return nesting || pick(3) ? update() : leave_program();
        case 9:
        case 10: return product();
        default: return nesting ? update() : atomic();
        }
    }

public:
    Maker(Choices &c, bool p) : choices(c), pairs(p)
    {
    }

    std::string make(const std::string &name)
    {
        line("pid = nl.program_id(0)");
        if (pairs) {
            product();
            for (int count = pick(3); count > 0; count--)
                pick(2) ? assign() : update();
        } else {
            line("nl.store(work + pid * 512 + nl.arange(0, 512), nl.arange(0, 512))");
            for (int count = 1 + pick(6); count > 0; count--)
                statement();
        }
        if (values.empty())
            assign();
        for (const Value &v : std::vector<Value>(values))
            store(v);
        return "import newt.language as nl\n\n\n" + helpers + "@newt.kernel(grid=(" + std::to_string((int)RANDOM_PROGRAMS) +
               ",)" + (pairs ? ", num_ctas=2" : "") + ")\ndef " + name + "(p: nl.ptr[nl.const[nl.int32]], out: nl.ptr[nl.int64], fout: nl.ptr[nl.float64], work: nl.ptr[nl.int32],\n"
               "      n: nl.int32, h: nl.ptr[nl.const[nl.float16]]):\n" + body;
    }
};

}  // namespace

std::string random_kernel(const std::vector<uint8_t> &list, const std::string &name)
{
    Choices choices(list);
    const int kind = choices.pick(5);
    return kind == 4 ? random_tile_kernel(choices, name) : Maker(choices, kind == 3).make(name);
}
