/* Loads the FMU's binary. */
#include "fmu.h"

#include <string.h>

#ifdef _WIN32
#include <windows.h>

static void *open_library(const char *path)
{
    return (void *)LoadLibraryExA(path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
}

static void *find(void *library, const char *name)
{
    FARPROC found = GetProcAddress((HMODULE)library, name);
    void *pointer;
    memcpy(&pointer, &found, sizeof pointer);
    return pointer;
}

static void close_library(void *library)
{
    FreeLibrary((HMODULE)library);
}
#else
#include <dlfcn.h>

static void *open_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        give_up("%s", dlerror());
    return library;
}

static void *find(void *library, const char *name)
{
    return dlsym(library, name);
}

static void close_library(void *library)
{
    dlclose(library);
}
#endif

static void take(const Fmu *fmu, bool all, const char *name, void *place)
{
    void *found = find(fmu->library, name);
    if (found == NULL && all)
        give_up("%s does not export %s", fmu->description->library, name);
    memcpy(place, &found, sizeof found);
}

#define TAKE2(RESULT, NAME, ARGUMENTS) take(fmu, all, "fmi2" #NAME, &fmu->two.NAME);
#define TAKE3(RESULT, NAME, ARGUMENTS) take(fmu, all, "fmi3" #NAME, &fmu->three.NAME);

void fmu_load(Fmu *fmu, const Description *description, bool all)
{
    memset(fmu, 0, sizeof *fmu);
    fmu->description = description;
    fmu->library = open_library(description->library);
    if (fmu->library == NULL)
        give_up("cannot load %s", description->library);
    if (description->version == 2) {
        FMI2_FUNCTIONS(TAKE2)
    } else {
        FMI3_FUNCTIONS(TAKE3)
    }
}

void fmu_unload(Fmu *fmu)
{
    close_library(fmu->library);
}
