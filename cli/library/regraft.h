#pragma once
/* regraft's C interface: the commands of the program `regraft`, run inside another program.
 *
 *   regraft_buffer model = {"model", bytes, size};
 *   regraft_run* run = regraft_start("optimize", "{\"time\": 10, \"out\": true}", &model, 1);
 *   while (!regraft_wait(run, 0.1, NULL, NULL)) { ... }           // or wait once, for ever: -1
 *   if (regraft_status(run) == REGRAFT_DONE) use(regraft_output(run, "out", &size), size);
 *   regraft_free(run);
 *
 * Options. A JSON object with the names of the command line, "_" or "-" between words, without the
 * leading dashes; operands have the names that `regraft COMMAND --help` shows ("model", "a", "b").
 *   string, number        the option's value
 *   true                  a flag; of an option that names a file to write: keep the file in memory
 *   false, null           as if it were not there
 *   array                 one value after the other, for options that take several
 *   object                NAME=VALUE for each member, a value's array joined by commas:
 *                         {"shape": {"x": [1, 3, 224, 224]}}
 * "json" and "quiet" are set by the library: the report of --json is regraft_report.
 *
 * Files. A path is read or written as the command line does it, without a copy here. A buffer in
 * `inputs` stands for the file of the operand or option of its name; it is copied before
 * regraft_start returns. A model in a buffer has no external data.
 *
 * Ownership. What a function returns belongs to the run and lives until regraft_free. Strings are
 * UTF-8 and end with 0.
 *
 * Threads. Any thread may start runs. They are done one after the other, each with as many threads
 * as its option "threads" says. regraft_cancel may be called at any time from any thread; all else
 * of one run from one thread at a time. Results are there once regraft_wait has returned 1.
 *
 * The process stays the caller's: no signal handler and no resource limit is set, and nothing is
 * printed. "memory" counts what is taken beyond what the process held when the run began.
 * Environment variables mean what they mean to the program. */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define REGRAFT_EXPORT __attribute__((visibility("default")))
#else
#define REGRAFT_EXPORT
#endif

/* Of this header. A library of another number has another interface. */
#define REGRAFT_API_VERSION 1

/* What regraft_status says; the program's exit codes. */
enum {
  REGRAFT_DONE = 0,
  REGRAFT_FAILED = 1,       /* a check failed, or models differ: see the report */
  REGRAFT_USAGE = 2,        /* no such command or option */
  REGRAFT_BAD_INPUT = 3,    /* one message names the place; nothing was written */
  REGRAFT_INTERNAL = 4,     /* a bug; nothing was written */
  REGRAFT_UNDECIDED = 5,    /* of validate */
  REGRAFT_INTERRUPTED = 130 /* by regraft_cancel; what was found until then is there */
};

typedef struct regraft_run regraft_run;

/* An input that is in memory. */
typedef struct {
  const char* name; /* of the option that it stands for */
  const void* data;
  size_t size; /* bytes */
} regraft_buffer;

/* How far a run is. */
typedef struct {
  const char *label, *unit, *note; /* "search", "candidates", "best 12.3 us"; may be empty */
  uint64_t done, total;            /* in units; total 0: unknown */
} regraft_progress;

/* Called on the thread that waits. Not 0: cancel. The pointers live during the call. */
typedef int (*regraft_callback)(const regraft_progress* progress, void* user);

/* REGRAFT_API_VERSION of the library. */
REGRAFT_EXPORT int regraft_api_version(void);
/* The version of the program: "0.1.0". */
REGRAFT_EXPORT const char* regraft_version(void);

/* The options of a command ("optimize", "rules show") as JSON:
 *   {"help", "options": [{"name", "help", "kind": "operand", "option" or "flag", "several",
 *     "required", "type", "default"}, ..]}
 * Of "": the commands. NULL: there is no such command. Lives as long as the library. */
REGRAFT_EXPORT const char* regraft_options(const char* command);

/* The interpreter that measures in runtimes of Python, where $REGRAFT_PYTHON does not name one.
 * Not while a run goes on. */
REGRAFT_EXPORT void regraft_set_python(const char* path);

/* Starts a command. Never NULL but for want of memory: mistakes are told by regraft_status. */
REGRAFT_EXPORT regraft_run* regraft_start(const char* command, const char* options,
                                          const regraft_buffer* inputs, size_t count);

/* Waits until the run has ended, for so many seconds at most; below 0: for ever. Meanwhile calls
 * `callback`, which may be NULL, about ten times a second. Returns 1 when it has ended, else 0. */
REGRAFT_EXPORT int regraft_wait(regraft_run* run, double seconds, regraft_callback callback,
                                void* user);

/* How far it is; the strings live until the next call for this run. */
REGRAFT_EXPORT regraft_progress regraft_progress_of(regraft_run* run);

/* Asks the run to end: it writes what it has found. What it found is still checked; asked twice, it
 * gives that up as well. Never waits. */
REGRAFT_EXPORT void regraft_cancel(regraft_run* run);

/* After regraft_wait has returned 1: */
REGRAFT_EXPORT int regraft_status(const regraft_run* run);
/* Errors and warnings, one a line; empty: none. */
REGRAFT_EXPORT const char* regraft_messages(const regraft_run* run);
/* What `--json` writes; empty: the command has no report, or did not come so far. */
REGRAFT_EXPORT const char* regraft_report(const regraft_run* run, size_t* size);
/* What a command without a report prints. */
REGRAFT_EXPORT const char* regraft_text(const regraft_run* run, size_t* size);
/* A file that was kept in memory, by the name of its option; NULL: there is none. Size in bytes. */
REGRAFT_EXPORT const void* regraft_output(const regraft_run* run, const char* name, size_t* size);

/* Cancels a run that has not ended and waits for its end; NULL is nothing. Free all runs before
 * the process ends. */
REGRAFT_EXPORT void regraft_free(regraft_run* run);

/* The program: its command line with the program's name first. Sets the process up as its own
 * (signals, limits, standard output). Returns the exit code. */
REGRAFT_EXPORT int regraft_main(int argc, char** argv);

#ifdef __cplusplus
}
#endif
