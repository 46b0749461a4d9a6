"""scalars.py LIBRARY: the call of tests/run's launch_scalars through ctypes: each argument's bits arrive."""
import ctypes
import sys


class F16(ctypes.Structure):
    _fields_ = [("bits", ctypes.c_uint16)]


newt = ctypes.CDLL(sys.argv[1])
newt.newt_last_error.restype = ctypes.c_char_p
newt.scalars.argtypes = [
    ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int8, ctypes.c_float, ctypes.c_int64, F16, ctypes.c_uint8,
    ctypes.c_double, ctypes.c_bool, F16, ctypes.c_int32, ctypes.c_void_p
]
device = ctypes.c_void_p()
if newt.newt_device_open(b"host", ctypes.byref(device)) != 0:
    sys.exit(newt.newt_last_error().decode())
for long, integer in [((1 << 40) + 1, -7), (1, 2**31 - 1), (16, 1), (17, 16), (0, -(2**31))]:
    got = (ctypes.c_int64 * 10)()
    if newt.scalars(device, None, -1, 0.125, long, F16(0x5140), 255, 0.1, True, F16(0xC020), integer, got) != 0:
        sys.exit(newt.newt_last_error().decode())
    want = [0xFF, 0x3E000000, long, 0x5140, 0xFF, 0x3FB999999999999A, 1, 0xC020, integer % 2**32, long + integer]
    if list(got) != want:
        sys.exit(f"got {list(got)}, should be {want}")
newt.newt_device_close(device)
