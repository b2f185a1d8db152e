// The program. In a wheel it is this and the library.
#include "cli/library/regraft.h"

int main(int argc, char** argv) { return regraft_main(argc, argv); }
