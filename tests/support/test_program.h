// SPDX-License-Identifier: GPL-3.0-or-later
// One program holds the tests of a folder. Each file of tests ends with SPANSCOPE_TEST. CMake writes the
// program's list of tests, which calls the test that is asked for.
#pragma once

#include <QCoreApplication>
#include <QTest>

#include <span>

namespace spanscope::test_program {

/// A file of tests: `tst_x` for tst_x.cpp.
struct NamedTest {
  const char* name = nullptr;
  int (*run)(int argc, char** argv) = nullptr;  ///< returns the exit status of QTest::qExec
};

/// Runs one test. `argv` holds the program, the name of a test, and arguments for Qt Test. If the name is
/// missing or unknown, it lists the tests and returns 2.
int runNamedTest(std::span<const NamedTest> tests, int argc, char** argv);

/// The application of tests that need none.
struct NoApplication {
  NoApplication(int& /*argc*/, char** /*argv*/) {}
};

template <typename Test, typename Application = NoApplication>
int runTest(int argc, char** argv) {
  [[maybe_unused]] const Application application(argc, argv);
  QCoreApplication::setAttribute(Qt::AA_Use96Dpi);
  Test test;
  return QTest::qExec(&test, argc, argv);
}

}  // namespace spanscope::test_program

/// SPANSCOPE_TEST(tst_x, Class[, Application]) declares the tests of tst_x.cpp. Application is what they need
/// of Qt, e.g. QCoreApplication for an event loop.
#define SPANSCOPE_TEST(name, ...)                                     \
  int name(int argc, char** argv);                                    \
  int name(int argc, char** argv) {                                   \
    return spanscope::test_program::runTest<__VA_ARGS__>(argc, argv); \
  }
