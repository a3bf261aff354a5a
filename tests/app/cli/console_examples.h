// SPDX-License-Identifier: GPL-3.0-or-later
// The examples in README and manual, as they stand in fenced blocks:
//
//   ```console           each line "$ spanq …" is run, in order, in one folder a page; what follows it is its
//                        output: standard error, then standard output
//   ```console exit=1    the same, and the last command ends with that code
//   ```console no-test   shown, not run: what takes long, or whose figures are the machine's
//   ```json file=a.json  a file of that name lies in the folder
//
// A line "…" stands for any lines, a "…" at the end of a line for the rest of it. Numbers with a decimal
// point and the name of the device are taken for any other.
#pragma once

#include <QString>
#include <QStringList>

#include <vector>

namespace spanscope::test {

struct ConsoleExample {
  int line = 0;         ///< of the command, from 1
  QStringList command;  ///< its words, "spanq" first; without what stands behind ">"
  QStringList output;
  bool isRun = true;
  bool isQuiet = false;  ///< its standard output goes to /dev/null
  bool isWhole = true;   ///< nothing but that stood behind it
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

/// Where what was written by the program differs from what is shown, in a sentence; empty where it does not.
QString differenceOf(const QStringList& shown, const QStringList& written);

}  // namespace spanscope::test
