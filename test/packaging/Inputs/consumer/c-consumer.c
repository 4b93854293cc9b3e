// Asks the installed library for its version; the header's and the library's must agree.
#include "kiln-c/Base.h"
#include "kiln-c/Version.h"

#include <stdio.h>
#include <string.h>

int main(void) {
  KilnString version = kilnVersion();
  printf("kiln %s\n", version.data);
  return strcmp(version.data, KILN_VERSION_STRING) == 0 && kilnApiVersion() == KILN_API_VERSION ? 0
                                                                                                : 1;
}
