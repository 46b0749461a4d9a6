// random_kernel.cc - the grammar; see random_kernel.h.
#include "random_kernel.h"

#include <algorithm>

namespace {

typedef std::vector<int> Shape;

struct Value {
    std::string name, type;  // "nl.int32"
    Shape shape;
};

const char *const int_types[] = { "int32", "int64", "int16", "int8", "uint32", "uint64", "uint16", "uint8" };
const char *const float_types[] = { "float32", "float16", "float64", "bfloat16" };

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
    const std::vector<uint8_t> &choices;
    size_t next = 0;
    std::string helpers, body;
    int indent = 1, names = 0, out_used = 0, fout_used = 0, nesting = 0;
    std::vector<Value> values;

    // 0 ... n - 1; 0 is the simplest choice.
    int pick(int n)
    {
        return next < choices.size() ? choices[next++] % n : 0;
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
        static const Shape shapes[] = { { 64 }, { 8 }, { 512 }, {}, { 8, 16 }, { 64, 8 }, { 4, 4, 8 }, { 1, 32 }, { 2048 } };
        return shapes[pick(sizeof shapes / sizeof *shapes)];
    }

    std::string random_type()
    {
        return pick(4) == 3 ? one_of(float_types) : one_of(int_types);
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
        const std::string type = random_type();
        return "(" + expression(type, s, depth - 1) + " " + comparisons[pick(6)] + " " + expression(type, s, depth - 1) + ")";
    }

    std::string int_operation(const std::string &type, const Shape &s, int depth)
    {
        static const char *const plain[] = { "+", "-", "*", "&", "|", "^" };
        const std::string a = expression(type, s, depth - 1);
        switch (pick(6)) {
        case 4: return "(" + a + " << (" + expression(type, s, depth - 1) + " & 7))";
        case 5: return "(" + a + (pick(2) ? " // " : " % ") + "(" + expression(type, s, depth - 1) + " | 1))";
        default: return "(" + a + " " + plain[pick(6)] + " " + expression(type, s, depth - 1) + ")";
        }
    }

    // Stays within -128 ... 128, so that every float type is exact.
    std::string float_operation(const std::string &type, const Shape &s)
    {
        static const char *const plain[] = { "+", "-", "*" };
        return "(" + leaf(type, s) + " " + plain[pick(3)] + " " + leaf(type, s) + ")";
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
        const std::string text = "nl." + std::string(kinds[kind]) + "(" + expression(type, whole, depth - 1) +
                                 ", axis=" + std::to_string(axis) + ")";
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
        if (pick(3) == 2)
            helpers += "@newt.jit\ndef " + name + "(x, y):\n    if nl.program_id(0) > 1:\n        return x\n    return y\n\n\n";
        else
            helpers += "@newt.jit\ndef " + name + "(x, y):\n    return " + bodies[pick(4)] + "\n\n\n";
        return name + "(" + expression(type, s, depth - 1) + ", " + expression(type, s, depth - 1) + ")";
    }

    std::string expression(const std::string &type, const Shape &s, int depth)
    {
        if (depth <= 0)
            return leaf(type, s);
        switch (pick(8)) {
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

    void loop()
    {
        static const char *const ranges[] = { "range(0, 3)", "range(0, pid)", "range(pid, 5, 2)", "range(3, 0, -1)" };
        if (values.empty())
            assign();
        const std::string name = new_name();
        line("for " + name + " in " + ranges[pick(4)] + ":");
        block();
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
        const std::string mask = pick(4) == 3 ? ", mask=" + index_of(v.shape) + " % 5 != 2" : "";
        line(std::string("nl.store(") + (is_float(v.type) ? "fout" : "out") + " + " + at + (v.shape.empty() ? "" : " + " + index_of(v.shape)) +
             ", " + v.name + (is_float(v.type) ? ".to(nl.float64)" : ".to(nl.int64)") + (v.shape.empty() ? "" : mask) + ")");
        used += n;
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
        switch (pick(nesting < 2 ? 7 : 4)) {
        case 0:
        case 1: return assign();
        case 2: return update();
        case 3: return exchange();
        case 4: return loop();
        case 5: return branch();
        default: return nesting ? update() : atomic();
        }
    }

public:
    explicit Maker(const std::vector<uint8_t> &c) : choices(c)
    {
    }

    std::string make()
    {
        line("pid = nl.program_id(0)");
        for (int count = 1 + pick(6); count > 0; count--)
            statement();
        if (values.empty())
            assign();
        for (const Value &v : std::vector<Value>(values))
            store(v);
        return "import newt.language as nl\n\n\n" + helpers + "@newt.kernel(grid=(" + std::to_string((int)RANDOM_PROGRAMS) +
               ",))\ndef k(p: nl.ptr[nl.const[nl.int32]], out: nl.ptr[nl.int64], fout: nl.ptr[nl.float64], work: nl.ptr[nl.int32],\n"
               "      n: nl.int32):\n" + body;
    }
};

}  // namespace

std::string random_kernel(const std::vector<uint8_t> &choices)
{
    return Maker(choices).make();
}
