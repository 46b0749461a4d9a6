/// report.h - what the reader of results hands to the picture.
#ifndef NEWT_BENCH_REPORT_H
#define NEWT_BENCH_REPORT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { REPORT_TEXT = 96, REPORT_MAX_RUNS = 64 };

/// All results of one program ("newt", "triton", "newt/add_1024") at one shape.
typedef struct ReportSeries {
    char suite[REPORT_TEXT], shape[REPORT_TEXT], who[REPORT_TEXT], unit[REPORT_TEXT],
        cfg[REPORT_TEXT];
    double values[REPORT_MAX_RUNS];  ///< one a run
    size_t count;
    double median, low, high;
    double goal;  ///< 0: none
} ReportSeries;

/// True for "GB/s" and "TFLOP/s", where more is better; false for times and sizes.
bool report_is_rate(const char *unit);
/// True for a single instance of ours, "newt/<instance>".
bool report_is_instance(const ReportSeries *s);

/// Bars for every shape measured in GB/s, grouped by shape, with the measured ceiling as a line.
void report_write_svg(FILE *out, const ReportSeries *series, size_t count, double ceiling);

#endif
