// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the examples in README and manual. They are in fenced blocks:
//
//   ```console           each line "$ spanq …" is run, in order, in one folder for each page; its output
//                        follows: standard error, then standard output
//   ```console exit=1    the same, but the last command ends with this code
//   ```console no-test   shown but not run, because it takes long or its figures depend on the machine
//   ```json file=a.json  a file with this name lies in the folder
//
// A line "…" matches any number of lines, and a "…" at the end of a line matches its rest. A number with a
// decimal point matches any other such number; so does the name of the device.
#pragma once

#include <QString>
#include <QStringList>

#include <vector>

namespace spanscope::test {

struct ConsoleExample {
  int line = 0;         ///< line of the command, from 1
  QStringList command;  ///< words of the command, "spanq" first, without what follows ">"
  QStringList output;
  bool isRun = true;
  bool isQuiet = false;  ///< standard output goes to /dev/null
  bool isWhole = true;   ///< the command printed nothing
  int exitCode = 0;
};

struct ExampleFile {
  QString name;
  QString text;
};

struct ExamplePage {
  std::vector<ConsoleExample> examples;
  std::vector<ExampleFile> files;
};

ExamplePage examplesIn(const QString& markdown);

/// A sentence that says where the program's output differs from the shown output; empty if it does not.
QString differenceOf(const QStringList& shown, const QStringList& written);

}  // namespace spanscope::test
