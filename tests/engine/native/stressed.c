/* Opens each file that is named, and if it opens, uses all functions on it: for a compiler's sanitizers. */
#include <limberjack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sets every quantity to what it is, which many refuse. */
static void use(lj_model *model)
{
    const size_t count = lj_count(model), size = lj_snapshot_size(model);
    void *snapshot = malloc(size);
    lj_quantity quantity, same;
    lj_snapshot(model, snapshot, size);
    for (uint32_t i = 0; i < count; i++) {
        double value = 0.0;
        uint32_t again = 0;
        lj_describe(model, i, &quantity);
        if (lj_find(model, quantity.name, &again) || lj_describe(model, again, &same) ||
            strcmp(quantity.name, same.name) != 0) /* spoilt names may be equal */
            printf("%s is not found again\n", quantity.name);
        lj_get(model, &i, 1, &value);
        lj_set(model, &i, 1, &value);
    }
    lj_step(model, 2);
    lj_attach(model, "hold_down", NULL);
    lj_release(model, "hold_down", NULL);
    lj_step(model, 1);
    lj_restore(model, snapshot, size);
    lj_reset(model, 1);
    free(snapshot);
}

int main(int count, char **arguments)
{
    int opened = 0;
    for (int i = 1; i < count; i++) {
        lj_model *model = NULL;
        if (lj_open(arguments[i], &model) == LJ_OK)
            opened++, use(model);
        else if (!*lj_error(model))
            printf("%s is refused without a word\n", arguments[i]);
        lj_close(model);
    }
    printf("%d opened\n", opened);
    return 0;
}
