/* SPDX-License-Identifier: Apache-2.0 */
/* A decoded call program. All its memory lives until the process ends. */
#ifndef BGTASK_RUNNER_CALL_PROGRAM_H
#define BGTASK_RUNNER_CALL_PROGRAM_H

#include <ffi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The largest numbers of arguments of a function or parameters of a callback; of steps; and of libraries, of
 *  names and of callbacks. The host refuses manifests that exceed them. */
enum { CALL_MAX_ARGUMENTS = 32, CALL_MAX_STEPS = 64, CALL_MAX_TABLE = 1023 };

/** The greatest offset of a member of a struct. */
enum { CALL_MAX_OFFSET = 1 << 20 };

/** The types; their values are the numbers in an encoded program. */
typedef enum call_type {
    CALL_VOID,
    CALL_BOOL,
    CALL_CHAR,
    CALL_UCHAR,
    CALL_SHORT,
    CALL_USHORT,
    CALL_INT,
    CALL_UINT,
    CALL_LONG,
    CALL_ULONG,
    CALL_LONGLONG,
    CALL_ULONGLONG,
    CALL_INT8,
    CALL_UINT8,
    CALL_INT16,
    CALL_UINT16,
    CALL_INT32,
    CALL_UINT32,
    CALL_INT64,
    CALL_UINT64,
    CALL_SIZE,
    CALL_FLOAT,
    CALL_DOUBLE,
    CALL_POINTER,
    CALL_STRING,
    CALL_TYPE_COUNT
} call_type;

/** In an encoded program, this number instead of a type means that a call returns a struct. */
enum { CALL_RETURNS_STRUCT = CALL_TYPE_COUNT };

/** A value as C stores it in memory. */
typedef union call_storage {
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    float f32;
    double f64;
    void *address;
    ffi_arg wide;
} call_storage;

/** A constant, or the index of a name whose value is used. */
typedef struct call_value {
    enum { CALL_INTEGER, CALL_FLOATING, CALL_NULL, CALL_TEXT, CALL_NAME } kind;
    int64_t integer;
    double floating;
    const char *text;
    uint16_t name;
} call_value;

/** A name, with its current value. */
typedef struct call_name {
    const char *text;
    enum { CALL_UNBOUND, CALL_LIVE, CALL_ENDED } state;
    call_type type;
    call_storage value;
    bool has_size; /* true for a buffer and a file */
    size_t size;
    bool is_constant;  /* true for a mapped file */
    uint32_t bindings; /* how often it got a value */
} call_name;

typedef enum call_argument_kind {
    CALL_ARGUMENT_LITERAL = 1,
    CALL_ARGUMENT_STRING,
    CALL_ARGUMENT_NULL,
    CALL_ARGUMENT_USE,
    CALL_ARGUMENT_OUT,
    CALL_ARGUMENT_INOUT,
    CALL_ARGUMENT_BUFFER,
    CALL_ARGUMENT_FILE,
    CALL_ARGUMENT_SIZE_OF,
    CALL_ARGUMENT_CALLBACK,
    CALL_ARGUMENT_FIELD,
    CALL_ARGUMENT_LIST,
    CALL_ARGUMENT_STRUCT
} call_argument_kind;

/** A member of a struct that the value of a name points to. */
typedef struct call_field {
    uint16_t name;
    uint32_t offset;
    call_type type;
} call_field;

/** A struct that is passed or returned by value. */
typedef struct call_struct {
    uint8_t count; /* 0 if there is none */
    call_type *members;
    ffi_type type; /* made by call_load */
} call_struct;

typedef struct call_argument {
    call_argument_kind kind;
    call_type type;
    uint16_t name; /* for a callback, its index */
    call_value value;
    const char *text;
    call_field field;
    uint8_t text_count;
    call_struct structure;
    char **texts; /* of a list; NULL follows the last one */
    void *memory; /* a buffer or a mapped file: what the last call got, for the next round of a loop */
    size_t memory_size;
} call_argument;

typedef struct call_invocation {
    uint16_t library;
    const char *function;
    call_type returns; /* void if it returns a struct */
    call_struct returned_struct;
    void *struct_memory;   /* where the struct is returned; made by the first call */
    uint8_t variadic_from; /* counted from 1; 0 if not variadic */
    uint8_t count;
    call_argument *arguments;
    void (*address)(void); /* set by call_load */
    call_storage *cells;   /* the variables of out and inout arguments; made by the first call */
} call_invocation;

/** What a step does; the values are the numbers in an encoded program. */
typedef enum call_step_kind {
    CALL_STEP_INVOKE = 1,
    CALL_STEP_SAVE,
    CALL_STEP_MAP,
    CALL_STEP_READ,
    CALL_STEP_GET,
    CALL_STEP_SET,
    CALL_STEP_LOOP
} call_step_kind;

typedef struct call_step {
    call_step_kind kind;
    bool always, reads_errno, has_result;
    uint16_t result;
    enum { CALL_EXPECT_ANY, CALL_EXPECT_ONE_OF, CALL_EXPECT_NOT, CALL_EXPECT_AT_LEAST } expect;
    uint8_t expected_count;
    call_value *expected;
    uint8_t ends_count;
    uint16_t *ends;
    call_invocation invocation;
    uint16_t name;      /* what is saved, the contents of a file, or the value that a loop checks */
    call_value operand; /* the length of a save (NULL: up to the NUL byte), or the value of a member */
    const char *path;
    call_field field;
    void *memory; /* the contents of a file, from the last round of a loop */
    size_t memory_size;
    uint32_t at_most;   /* rounds of a loop */
    uint8_t body_count; /* how many of the following steps a loop repeats */
} call_step;

typedef struct call_callback {
    call_type returns;
    uint8_t count;
    call_type *parameters;
    bool counts;
    uint8_t completed, total; /* positions counted from 1; 0 if none */
    call_value proceed, stop;
    void *code; /* set by call_make_callbacks */
} call_callback;

typedef struct call_program {
    uint16_t library_count, name_count, callback_count, step_count;
    const char **libraries;
    call_name *names;
    call_callback *callbacks;
    call_step *steps;
    bool has_message, has_on_expiration;
    bool has_message_offset; /* the message call returns a struct's address; the text's is at the offset */
    uint32_t message_offset;
    call_invocation message, on_expiration;
} call_program;

/** Decodes a program and checks all lengths and indexes. Returns NULL, or what is wrong. */
const char *call_decode(call_program *program, const uint8_t *bytes, size_t length);

/** Opens the libraries and finds the functions. On failure, returns false with the loader's message in
 *  `why`. */
bool call_load(call_program *program, char *why, size_t why_size);

/** Returns libffi's description of a type. */
ffi_type *call_ffi_type(call_type type);

/** Whether a type is an integer; `bool` counts as one. */
bool call_is_integer(call_type type);

/** Whether a type is an unsigned integer or a pointer. */
bool call_is_unsigned(call_type type);

/** Stores an integer as a value of the type, truncated to its size. */
void call_store_integer(call_storage *storage, call_type type, int64_t number);

/** Reads an integer. For `float` and `double`, this is the integral part; for pointers, the address. */
int64_t call_load_integer(const call_storage *storage, call_type type);

/** Reads a `float` or `double`; other types are converted. */
double call_load_floating(const call_storage *storage, call_type type);

/** Stores a value as a value of the type; the value of a name is converted, and a fraction is cut off. False
 *  if the name has no value, or if the value does not fit the type. */
bool call_store_value(const call_program *program, call_storage *storage, call_type type,
                      const call_value *value);

/** Writes a file completely or not at all: it writes and syncs an unnamed file, gives it a temporary name,
 *  and renames it. It also removes the temporary files of earlier saves to this path that were killed.
 *  Returns 0, or an error number. */
int call_save(const char *path, const void *bytes, size_t length);

/** Maps a regular file for reading. Returns 0, or an error number. */
int call_map_file(const char *path, void **address, size_t *size);

/** Reads a file into memory, with a NUL byte behind its contents. Returns 0, or an error number. */
int call_read_file(const char *path, void **address, size_t *size);

#endif
