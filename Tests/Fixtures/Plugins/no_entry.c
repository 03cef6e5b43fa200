int nothing_that_we_call(void);

int nothing_that_we_call(void) {
    return 1;
}
