// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QtGlobal>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string_view>

namespace spanscope::test_program {

int runNamedTest(std::span<const NamedTest> tests, int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  const auto found =
      std::find_if(tests.begin(), tests.end(), [&](const NamedTest& test) { return test.name == name; });
  if (found == tests.end()) {
    std::fprintf(stderr, "%s NAME [arguments of Qt Test], where NAME is one of\n", argv[0]);
    for (const NamedTest& test : tests) std::fprintf(stderr, "  %s\n", test.name);
    return 2;
  }
  // Qt Test ends a function after five minutes, which a machine with other work may need. The time limit of
  // ctest ends a test that hangs.
  if (qEnvironmentVariableIsEmpty("QTEST_FUNCTION_TIMEOUT"))
    qputenv("QTEST_FUNCTION_TIMEOUT", QByteArray::number(std::numeric_limits<int>::max()));
  std::rotate(argv + 1, argv + 2, argv + argc);
  argv[argc - 1] = nullptr;
  return found->run(argc - 1, argv);
}

}  // namespace spanscope::test_program
