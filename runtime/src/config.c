/// Configurations of autotuned kernels: which one a launch takes, and loading them.
#include "launch.h"
#include "tune_book.h"

/// The configuration of a kernel that a number means; NULL after a report.
static const NewtConfig *config_get(const NewtKernel *kernel, int config)
{
    const NewtTuning *tuning = kernel->tuning;
    if (tuning && config >= 0 && (uint32_t)config < tuning->config_count)
        return &tuning->configs[config];
    newti_fail(NEWT_BAD_ARGUMENT, "%s has no configuration %d: it has %lu", kernel->name, config,
               tuning ? (unsigned long)tuning->config_count : 0UL);
    return NULL;
}

NewtStatus newti_config_begin(const Launch *launch, ConfigWalk *walk)
{
    const NewtTuning *tuning = launch->kernel->tuning;
    walk->step = 0;
    walk->chosen = launch->config;
    if (launch->config < -1 || (launch->config >= 0 && !config_get(launch->kernel, launch->config)))
        return NEWT_BAD_ARGUMENT;
    if (launch->config == -1 && tuning) {
        walk->chosen = newti_book_find(launch->device, launch->kernel, launch->args);
        if (walk->chosen < 0)
            walk->chosen = (int)tuning->default_config;
    }
    return NEWT_OK;
}

bool newti_config_next(Launch *launch, ConfigWalk *walk, NewtStatus status)
{
    const NewtTuning *tuning = launch->kernel->tuning;
    const uint32_t step = walk->step++;
    if (!tuning || walk->chosen < 0) {
        launch->first = 0;
        launch->end = launch->kernel->variant_count;
        return step == 0;
    }
    const bool cannot_run = status == NEWT_NO_IMAGE || status == NEWT_TOO_LARGE;
    if (step > 0 && (launch->config >= 0 || !cannot_run || step > tuning->config_count))
        return false;
    // After the chosen one all others, which are counted around it.
    uint32_t next = step == 0 ? (uint32_t)walk->chosen : step - 1;
    if (step > 0 && next == (uint32_t)walk->chosen)
        return newti_config_next(launch, walk, status);
    launch->first = tuning->configs[next].first_variant;
    launch->end = launch->first + tuning->configs[next].variant_count;
    if (launch->device->options.log >= LOG_CHOICE)
        newti_log("choice %s configuration %s", launch->kernel->name, tuning->configs[next].name);
    return true;
}

NewtStatus newti_config_load(NewtDevice *device, const NewtKernel *kernel, int config,
                             uint32_t *ready)
{
    const NewtTuning *tuning = kernel->tuning;
    *ready = 0;
    if (!tuning)
        return newti_slots_load(device, kernel, 0, kernel->variant_count, ready);
    NewtStatus worst = NEWT_OK;
    for (uint32_t i = 0; i < tuning->config_count; i++) {
        const NewtConfig *c = &tuning->configs[i];
        if (config >= 0 && (uint32_t)config != i)
            continue;
        NewtStatus status = newti_slots_load(device, kernel, c->first_variant,
                                             c->first_variant + c->variant_count, ready);
        if (status != NEWT_OK && status != NEWT_TOO_LARGE)
            return status;
        if (status != NEWT_OK)
            worst = status;
    }
    return *ready ? NEWT_OK : worst;
}

static NewtStatus choose(const NewtKernel *kernel, NewtDevice *device, const void *args,
                         int *config)
{
    const Launch launch = { .kernel = kernel, .device = device, .args = args, .config = -1 };
    ConfigWalk walk;
    NewtStatus status = newti_kernel_check(kernel, device);
    if (status != NEWT_OK)
        return status;
    if (!args || !config)
        return newti_fail_null(kernel->name, args ? "config" : "args");
    status = newti_config_begin(&launch, &walk);
    *config = walk.chosen;
    return status;
}

NewtStatus newt_choose_(const NewtKernel *kernel, NewtDevice *device, const void *args, int *config)
{
    NewtStatus status = choose(kernel, device, args, config);
    return newti_log_status(device ? device->options.log : LOG_OFF, status);
}

const char *newt_config_text_(const NewtKernel *kernel, int config)
{
    const NewtTuning *tuning = kernel->tuning;
    return tuning && config >= 0 && (uint32_t)config < tuning->config_count
               ? tuning->configs[config].text
               : NULL;
}
