// SPDX-License-Identifier: GPL-3.0-or-later
// One program holds the tests of a folder: each file ends with SPANSCOPE_TEST, and the program's list, which
// CMake writes, calls the one that is asked for.
#pragma once

#include <QCoreApplication>
#include <QTest>

#include <span>

namespace spanscope::test_program {

/// A file of tests: `tst_x` of tst_x.cpp.
struct NamedTest {
  const char* name = nullptr;
  int (*run)(int argc, char** argv) = nullptr;  ///< its exit status, as that of QTest::qExec
};

/// `argv`: the program, the name of a test, and arguments of Qt Test. Without a name, or with one that is not
/// there, says what there is and gives 2.
int runNamedTest(std::span<const NamedTest> tests, int argc, char** argv);

/// Of tests that need no application.
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

/// SPANSCOPE_TEST(tst_x, Class[, Application]): the tests of tst_x.cpp. Application: what they need of Qt,
/// e.g. QCoreApplication for an event loop.
#define SPANSCOPE_TEST(name, ...)                                     \
  int name(int argc, char** argv);                                    \
  int name(int argc, char** argv) {                                   \
    return spanscope::test_program::runTest<__VA_ARGS__>(argc, argv); \
  }
