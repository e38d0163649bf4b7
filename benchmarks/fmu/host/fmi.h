/* The part of FMI 2.0 and 3.0 that a host calls, written from the standards' text. */
#ifndef HOST_FMI_H
#define HOST_FMI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { FMI_OK, FMI_WARNING, FMI_DISCARD, FMI_ERROR, FMI_FATAL, FMI_PENDING } Status;
typedef void *Component;
typedef void *FmuState;
typedef uint32_t Reference;
typedef const char *Text;
typedef int Bool2; /* fmi2Boolean */

typedef void (*Log2)(void *environment, Text instance, Status status, Text category, Text message, ...);
typedef void (*Log3)(void *environment, Status status, Text category, Text message);
typedef void (*Update3)(void *environment, double time, bool set_requested, bool get_allowed, bool finished,
                        bool can_return_early, bool *return_early, double *return_time);

typedef struct {
    Log2 log;
    void *(*allocate)(size_t count, size_t size);
    void (*release)(void *memory);
    void (*step_finished)(void *environment, Status status);
    void *environment;
} Callbacks2;

typedef struct {
    Bool2 new_discrete_states_needed, terminate, nominals_changed, values_changed, next_time_defined;
    double next_time;
} EventInfo2;

enum { FMI2_MODEL_EXCHANGE = 0, FMI2_CO_SIMULATION = 1 };
enum { FMI2_LAST_SUCCESSFUL_TIME = 2, FMI2_DO_STEP_STATUS = 0, FMI2_PENDING_STATUS = 1, FMI2_TERMINATED = 3 };

#define FMI2_ACCESS(X, NAME, T)                                       \
    X(Status, Get##NAME, (Component, const Reference *, size_t, T *)) \
    X(Status, Set##NAME, (Component, const Reference *, size_t, const T *))

#define FMI2_FUNCTIONS(X)                                                                                   \
    X(Text, GetTypesPlatform, (void))                                                                       \
    X(Text, GetVersion, (void))                                                                             \
    X(Status, SetDebugLogging, (Component, Bool2, size_t, const Text *))                                    \
    X(Component, Instantiate, (Text, int, Text, Text, const Callbacks2 *, Bool2, Bool2))                    \
    X(void, FreeInstance, (Component))                                                                      \
    X(Status, SetupExperiment, (Component, Bool2, double, double, Bool2, double))                           \
    X(Status, EnterInitializationMode, (Component))                                                         \
    X(Status, ExitInitializationMode, (Component))                                                          \
    X(Status, Terminate, (Component))                                                                       \
    X(Status, Reset, (Component))                                                                           \
    FMI2_ACCESS(X, Real, double)                                                                            \
    FMI2_ACCESS(X, Integer, int)                                                                            \
    FMI2_ACCESS(X, Boolean, Bool2)                                                                          \
    FMI2_ACCESS(X, String, Text)                                                                            \
    X(Status, GetFMUstate, (Component, FmuState *))                                                         \
    X(Status, SetFMUstate, (Component, FmuState))                                                           \
    X(Status, FreeFMUstate, (Component, FmuState *))                                                        \
    X(Status, SerializedFMUstateSize, (Component, FmuState, size_t *))                                      \
    X(Status, SerializeFMUstate, (Component, FmuState, char *, size_t))                                     \
    X(Status, DeSerializeFMUstate, (Component, const char *, size_t, FmuState *))                           \
    X(Status, GetDirectionalDerivative,                                                                     \
      (Component, const Reference *, size_t, const Reference *, size_t, const double *, double *))          \
    X(Status, EnterEventMode, (Component))                                                                  \
    X(Status, NewDiscreteStates, (Component, EventInfo2 *))                                                 \
    X(Status, EnterContinuousTimeMode, (Component))                                                         \
    X(Status, CompletedIntegratorStep, (Component, Bool2, Bool2 *, Bool2 *))                                \
    X(Status, SetTime, (Component, double))                                                                 \
    X(Status, SetContinuousStates, (Component, const double *, size_t))                                     \
    X(Status, GetDerivatives, (Component, double *, size_t))                                                \
    X(Status, GetEventIndicators, (Component, double *, size_t))                                            \
    X(Status, GetContinuousStates, (Component, double *, size_t))                                           \
    X(Status, GetNominalsOfContinuousStates, (Component, double *, size_t))                                 \
    X(Status, SetRealInputDerivatives, (Component, const Reference *, size_t, const int *, const double *)) \
    X(Status, GetRealOutputDerivatives, (Component, const Reference *, size_t, const int *, double *))      \
    X(Status, DoStep, (Component, double, double, Bool2))                                                   \
    X(Status, CancelStep, (Component))                                                                      \
    X(Status, GetStatus, (Component, int, Status *))                                                        \
    X(Status, GetRealStatus, (Component, int, double *))                                                    \
    X(Status, GetIntegerStatus, (Component, int, int *))                                                    \
    X(Status, GetBooleanStatus, (Component, int, Bool2 *))                                                  \
    X(Status, GetStringStatus, (Component, int, Text *))

#define FMI3_ACCESS(X, NAME, T)                                               \
    X(Status, Get##NAME, (Component, const Reference *, size_t, T *, size_t)) \
    X(Status, Set##NAME, (Component, const Reference *, size_t, const T *, size_t))

#define FMI3_DERIVATIVE \
    (Component, const Reference *, size_t, const Reference *, size_t, const double *, size_t, double *, size_t)

#define FMI3_FUNCTIONS(X)                                                                                        \
    X(Text, GetVersion, (void))                                                                                  \
    X(Status, SetDebugLogging, (Component, bool, size_t, const Text *))                                          \
    X(Component, InstantiateModelExchange, (Text, Text, Text, bool, bool, void *, Log3))                         \
    X(Component, InstantiateCoSimulation,                                                                        \
      (Text, Text, Text, bool, bool, bool, bool, const Reference *, size_t, void *, Log3, Update3))              \
    X(Component, InstantiateScheduledExecution,                                                                  \
      (Text, Text, Text, bool, bool, void *, Log3, void (*)(void *), void (*)(void), void (*)(void)))            \
    X(void, FreeInstance, (Component))                                                                           \
    X(Status, EnterInitializationMode, (Component, bool, double, double, bool, double))                          \
    X(Status, ExitInitializationMode, (Component))                                                               \
    X(Status, EnterEventMode, (Component))                                                                       \
    X(Status, Terminate, (Component))                                                                            \
    X(Status, Reset, (Component))                                                                                \
    FMI3_ACCESS(X, Float32, float)                                                                               \
    FMI3_ACCESS(X, Float64, double)                                                                              \
    FMI3_ACCESS(X, Int8, int8_t)                                                                                 \
    FMI3_ACCESS(X, UInt8, uint8_t)                                                                               \
    FMI3_ACCESS(X, Int16, int16_t)                                                                               \
    FMI3_ACCESS(X, UInt16, uint16_t)                                                                             \
    FMI3_ACCESS(X, Int32, int32_t)                                                                               \
    FMI3_ACCESS(X, UInt32, uint32_t)                                                                             \
    FMI3_ACCESS(X, Int64, int64_t)                                                                               \
    FMI3_ACCESS(X, UInt64, uint64_t)                                                                             \
    FMI3_ACCESS(X, Boolean, bool)                                                                                \
    FMI3_ACCESS(X, String, Text)                                                                                 \
    X(Status, GetBinary, (Component, const Reference *, size_t, size_t *, const uint8_t **, size_t))             \
    X(Status, SetBinary, (Component, const Reference *, size_t, const size_t *, const uint8_t *const *, size_t)) \
    X(Status, GetClock, (Component, const Reference *, size_t, bool *))                                          \
    X(Status, SetClock, (Component, const Reference *, size_t, const bool *))                                    \
    X(Status, GetNumberOfVariableDependencies, (Component, Reference, size_t *))                                 \
    X(Status, GetVariableDependencies, (Component, Reference, size_t *, Reference *, size_t *, int *, size_t))   \
    X(Status, GetFMUState, (Component, FmuState *))                                                              \
    X(Status, SetFMUState, (Component, FmuState))                                                                \
    X(Status, FreeFMUState, (Component, FmuState *))                                                             \
    X(Status, SerializedFMUStateSize, (Component, FmuState, size_t *))                                           \
    X(Status, SerializeFMUState, (Component, FmuState, uint8_t *, size_t))                                       \
    X(Status, DeserializeFMUState, (Component, const uint8_t *, size_t, FmuState *))                             \
    X(Status, GetDirectionalDerivative, FMI3_DERIVATIVE)                                                         \
    X(Status, GetAdjointDerivative, FMI3_DERIVATIVE)                                                             \
    X(Status, EnterConfigurationMode, (Component))                                                               \
    X(Status, ExitConfigurationMode, (Component))                                                                \
    X(Status, GetIntervalDecimal, (Component, const Reference *, size_t, double *, int *))                       \
    X(Status, GetIntervalFraction, (Component, const Reference *, size_t, uint64_t *, uint64_t *, int *))        \
    X(Status, GetShiftDecimal, (Component, const Reference *, size_t, double *))                                 \
    X(Status, GetShiftFraction, (Component, const Reference *, size_t, uint64_t *, uint64_t *))                  \
    X(Status, SetIntervalDecimal, (Component, const Reference *, size_t, const double *))                        \
    X(Status, SetIntervalFraction, (Component, const Reference *, size_t, const uint64_t *, const uint64_t *))   \
    X(Status, SetShiftDecimal, (Component, const Reference *, size_t, const double *))                           \
    X(Status, SetShiftFraction, (Component, const Reference *, size_t, const uint64_t *, const uint64_t *))      \
    X(Status, EvaluateDiscreteStates, (Component))                                                               \
    X(Status, UpdateDiscreteStates, (Component, bool *, bool *, bool *, bool *, bool *, double *))               \
    X(Status, EnterContinuousTimeMode, (Component))                                                              \
    X(Status, CompletedIntegratorStep, (Component, bool, bool *, bool *))                                        \
    X(Status, SetTime, (Component, double))                                                                      \
    X(Status, SetContinuousStates, (Component, const double *, size_t))                                          \
    X(Status, GetContinuousStateDerivatives, (Component, double *, size_t))                                      \
    X(Status, GetEventIndicators, (Component, double *, size_t))                                                 \
    X(Status, GetContinuousStates, (Component, double *, size_t))                                                \
    X(Status, GetNominalsOfContinuousStates, (Component, double *, size_t))                                      \
    X(Status, GetNumberOfEventIndicators, (Component, size_t *))                                                 \
    X(Status, GetNumberOfContinuousStates, (Component, size_t *))                                                \
    X(Status, EnterStepMode, (Component))                                                                        \
    X(Status, GetOutputDerivatives, (Component, const Reference *, size_t, const int32_t *, double *, size_t))   \
    X(Status, ActivateModelPartition, (Component, Reference, double))                                            \
    X(Status, DoStep, (Component, double, double, bool, bool *, bool *, bool *, double *))

#define FMI_POINTER(RESULT, NAME, ARGUMENTS) RESULT(*NAME) ARGUMENTS;
typedef struct {
    FMI2_FUNCTIONS(FMI_POINTER)
} Fmi2;
typedef struct {
    FMI3_FUNCTIONS(FMI_POINTER)
} Fmi3;

#endif
