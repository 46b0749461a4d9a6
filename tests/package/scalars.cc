/// scalars.cc - the call of tests/run's launch_scalars from C++: each argument's bits arrive.
#include "scalars.h"

#include <cstdio>

int main()
{
    const long long longs[] = { (1LL << 40) + 1, 1, 16, 17, 0 };
    const int ints[] = { -7, 2147483647, 1, 16, -2147483647 - 1 };
    NewtDevice *device = nullptr;
    if (newt_device_open("host", &device) != NEWT_OK)
        return 1;
    int wrong = 0;
    for (int k = 0; k < 5; k++) {
        const long long want[10] = { 0xff,
                                     0x3e000000,
                                     longs[k],
                                     0x5140,
                                     0xff,
                                     0x3FB999999999999ALL,
                                     1,
                                     0xc020,
                                     (long long)(unsigned)ints[k],
                                     longs[k] + ints[k] };
        int64_t got[10] = { 0 };
        const NewtStatus status = scalars(device, nullptr, -1, 0.125f, longs[k], newt_f16(42.0f),
                                          255, 0.1, true, newt_bf16(-2.5f), ints[k], got);
        if (status != NEWT_OK)
            std::fprintf(stderr, "%s\n", newt_last_error());
        for (int i = 0; i < 10; i++)
            if (status != NEWT_OK || got[i] != want[i]) {
                std::fprintf(stderr, "call %d, argument %d: %llx\n", k, i, (long long)got[i]);
                wrong++;
            }
    }
    newt_device_close(device);
    return wrong != 0;
}
