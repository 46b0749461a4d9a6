// combine.h - what reductions combine with, on values that stand in shared memory.
//
// The prelude's templates take two operands of one type and would not convert the emulator's cells.
// Included after the prelude.
#ifndef NEWT_TESTS_SIMT_COMBINE_H
#define NEWT_TESTS_SIMT_COMBINE_H

#define SIMT_COMBINE(NAME) \
    template <class T> NT_DEV T NAME(T a, SimtCell<T> b) \
    { \
        return NAME(a, (T)b); \
    }
SIMT_COMBINE(nt_sum)
SIMT_COMBINE(nt_max)
SIMT_COMBINE(nt_min)
SIMT_COMBINE(nt_max_nan)
SIMT_COMBINE(nt_min_nan)
SIMT_COMBINE(nt_xor)
SIMT_COMBINE(nt_or)

template <int KIND, bool NAN_WINS, class T> NT_DEV void nt_arg_step(T &x, int &i, SimtCell<T> y, SimtCell<int> j)
{
    nt_arg_step<KIND, NAN_WINS>(x, i, (T)y, (int)j);
}

#endif
