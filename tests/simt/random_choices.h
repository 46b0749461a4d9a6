// random_choices.h - the list of choices that a random kernel is made from; see random_kernel.h.
#ifndef NEWT_TESTS_SIMT_RANDOM_CHOICES_H
#define NEWT_TESTS_SIMT_RANDOM_CHOICES_H
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

class Choices {
    const std::vector<uint8_t> &list;
    size_t next = 0;

public:
    explicit Choices(const std::vector<uint8_t> &l) : list(l)
    {
    }

    // 0 ... n - 1; 0 is the simplest choice, and what there is when the list has ended.
    int pick(int n)
    {
        return next < list.size() ? list[next++] % n : 0;
    }

    template <typename T, size_t N> const T &one_of(const T (&from)[N])
    {
        return from[pick((int)N)];
    }
};

// What random_kernel() makes of `choices` when they ask for a tile kernel.
std::string random_tile_kernel(Choices &choices, const std::string &name);

#endif
