/* The engine inside the FMU: its state as bytes, [floats | state]. Mark, model and checksum are in fmu_state.c. */
#include <string.h>

#include "embedded.h"

size_t model_snapshot_size(const Model *model)
{
    return (size_t)(model->core.file.header->n_floats + model->core.file.header->n_state) * sizeof(double);
}

Status model_save(Model *model, void *bytes)
{
    const size_t floats = (size_t)model->core.file.header->n_floats * sizeof(double);
    core_settle(&model->core);
    memcpy(bytes, model->core.floats, floats);
    memcpy((char *)bytes + floats, model->core.state, (size_t)model->core.file.header->n_state * sizeof(double));
    return STATUS_OK;
}

Status model_restore(Model *model, const void *bytes, size_t size)
{
    const size_t floats = (size_t)model->core.file.header->n_floats * sizeof(double);
    if (size != model_snapshot_size(model)) {
        instance_log(model->instance, STATUS_ERROR, NULL,
                     "the saved state has %zu bytes instead of %zu: it is of another model; save one with this FMU.",
                     size, model_snapshot_size(model));
        return STATUS_ERROR;
    }
    memcpy(model->core.floats, bytes, floats);
    memcpy(model->core.state, (const char *)bytes + floats, size - floats);
    model->core.refresh_needed = false;
    model->core.unchecked = true;
    core_changed(&model->core, false);
    return STATUS_OK;
}
