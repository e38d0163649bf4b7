/* FMI 3.0: what this FMU declares not to have: other types, clocks, structural parameters. */
#include "fmi3_api.h"
#include "values.h"

static fmi3Status no_type(void *c, const char *function, const fmi3ValueReference vr[], size_t n, const char *type)
{
    Instance *instance = instance_begin(c, function, PHASES_ANY);
    return instance ? (fmi3Status)instance_done(instance, values_none(instance, function, vr, n, type)) : fmi3Error;
}

static fmi3Status unsupported(void *c, const char *function, const char *why)
{
    Instance *instance = instance_begin(c, function, PHASES_ANY);
    return instance ? (fmi3Status)instance_done(instance, instance_unsupported(instance, function, why)) : fmi3Error;
}

#define PER_ELEMENT "modelDescription.xml has all dependencies (providesPerElementDependencies is false)"

#define NO_TYPE(TYPE)                                                                                            \
    fmi3Status fmi3Get##TYPE(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3##TYPE values[],       \
                             size_t n_values)                                                                    \
    {                                                                                                            \
        (void)values, (void)n_values;                                                                            \
        return no_type(c, __func__, vr, n, #TYPE);                                                               \
    }                                                                                                            \
    fmi3Status fmi3Set##TYPE(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3##TYPE values[], \
                             size_t n_values)                                                                    \
    {                                                                                                            \
        (void)values, (void)n_values;                                                                            \
        return no_type(c, __func__, vr, n, #TYPE);                                                               \
    }
NO_TYPE(Float32)
NO_TYPE(Int8)
NO_TYPE(UInt8)
NO_TYPE(Int16)
NO_TYPE(UInt16)
NO_TYPE(Int32)
NO_TYPE(UInt32)
NO_TYPE(Int64)
NO_TYPE(UInt64)

fmi3Status fmi3GetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t n, size_t sizes[], fmi3Binary values[],
                         size_t n_values)
{
    (void)sizes, (void)values, (void)n_values;
    return no_type(c, __func__, vr, n, "Binary");
}

fmi3Status fmi3SetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const size_t sizes[],
                         const fmi3Binary values[], size_t n_values)
{
    (void)sizes, (void)values, (void)n_values;
    return no_type(c, __func__, vr, n, "Binary");
}

fmi3Status fmi3GetClock(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Clock values[])
{
    (void)values;
    return no_type(c, __func__, vr, n, "Clock");
}

fmi3Status fmi3SetClock(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Clock values[])
{
    (void)values;
    return no_type(c, __func__, vr, n, "Clock");
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Float64 intervals[],
                                  fmi3IntervalQualifier qualifiers[])
{
    (void)intervals, (void)qualifiers;
    return no_type(c, __func__, vr, n, "Clock");
}

fmi3Status fmi3GetIntervalFraction(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3UInt64 counters[],
                                   fmi3UInt64 resolutions[], fmi3IntervalQualifier qualifiers[])
{
    (void)counters, (void)resolutions, (void)qualifiers;
    return no_type(c, __func__, vr, n, "Clock");
}

fmi3Status fmi3GetShiftDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Float64 shifts[])
{
    (void)shifts;
    return no_type(c, __func__, vr, n, "Clock");
}

fmi3Status fmi3GetShiftFraction(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3UInt64 counters[],
                                fmi3UInt64 resolutions[])
{
    (void)counters, (void)resolutions;
    return no_type(c, __func__, vr, n, "Clock");
}

fmi3Status fmi3SetIntervalDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t n,
                                  const fmi3Float64 intervals[])
{
    (void)intervals;
    return no_type(c, __func__, vr, n, "Clock");
}

fmi3Status fmi3SetIntervalFraction(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3UInt64 counters[],
                                   const fmi3UInt64 resolutions[])
{
    (void)counters, (void)resolutions;
    return no_type(c, __func__, vr, n, "Clock");
}

fmi3Status fmi3SetShiftDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Float64 shifts[])
{
    (void)shifts;
    return no_type(c, __func__, vr, n, "Clock");
}

fmi3Status fmi3SetShiftFraction(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3UInt64 counters[],
                                const fmi3UInt64 resolutions[])
{
    (void)counters, (void)resolutions;
    return no_type(c, __func__, vr, n, "Clock");
}

fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance c, fmi3ValueReference vr, size_t *n)
{
    (void)vr, (void)n;
    return unsupported(c, __func__, PER_ELEMENT);
}

fmi3Status fmi3GetVariableDependencies(fmi3Instance c, fmi3ValueReference dependent, size_t dependent_elements[],
                                       fmi3ValueReference independents[], size_t independent_elements[],
                                       fmi3DependencyKind kinds[], size_t n)
{
    (void)dependent, (void)dependent_elements, (void)independents, (void)independent_elements, (void)kinds, (void)n;
    return unsupported(c, __func__, PER_ELEMENT);
}

fmi3Status fmi3EnterConfigurationMode(fmi3Instance c)
{
    return unsupported(c, __func__, "it has no structural parameters");
}

fmi3Status fmi3ExitConfigurationMode(fmi3Instance c)
{
    return unsupported(c, __func__, "it has no structural parameters");
}

fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance c)
{
    return unsupported(c, __func__, "it has no discrete states (providesEvaluateDiscreteStates is false)");
}

fmi3Status fmi3EnterStepMode(fmi3Instance c)
{
    return unsupported(c, __func__, "Co-Simulation has no Event Mode to leave (hasEventMode is false)");
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance c, fmi3ValueReference clock, fmi3Float64 time)
{
    (void)clock, (void)time;
    return unsupported(c, __func__, "it has no clocks and no Scheduled Execution");
}
