int main(void) {
    return 69;
}
