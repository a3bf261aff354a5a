// SPDX-License-Identifier: GPL-3.0-or-later
// What may follow "spanscope" on a command line. Parser, help and man page are made from one list.
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
  /// Whether the man page is asked for. The option is for people who build packages; the help does not show
  /// it.
  bool asksForManPage() const;
  std::string manPage() const;

 private:
  QCommandLineParser m_parser;
  QList<QCommandLineOption> m_options;  ///< the options that the help shows
};

}  // namespace spanscope
