// SPDX-License-Identifier: GPL-3.0-or-later
// What may stand behind "spanscope" on a command line: options, help and the page for man are one list.
#pragma once

#include <QCommandLineOption>
#include <QCommandLineParser>
#include <QList>

#include <string>

namespace spanscope {

class WindowArguments {
 public:
  WindowArguments();

  QCommandLineParser& parser() { return m_parser; }
  const QCommandLineOption& versionOption() const { return m_options.at(1); }
  /// Whether the page for man is asked for: an option for those who build packages, which no help shows.
  bool asksForManPage() const;
  std::string manPage() const;

 private:
  QCommandLineParser m_parser;
  QList<QCommandLineOption> m_options;  ///< those that the help shows
};

}  // namespace spanscope
