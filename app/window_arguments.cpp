// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window_arguments.h"

#include "app/man_page.h"

#include <QString>
#include <QStringList>

namespace spanscope {
namespace {

const QString kManPage = QStringLiteral("man-page");
const QString kAbout = QStringLiteral("A workbench for span queries.");
const QString kFiles = QStringLiteral("Documents, queries or recorded runs to open");

QList<QCommandLineOption> ownOptions() {
  return {
      {QStringLiteral("screenshot"),
       QStringLiteral("Run the files and save pictures: a view, a layout, or all"), QStringLiteral("VIEW")},
      {QStringLiteral("lesson-pages"),
       QStringLiteral("Run the given lessons and save each as a web page with pictures of its steps")},
      {QStringLiteral("theme"), QStringLiteral("light or dark"), QStringLiteral("NAME")},
      {QStringLiteral("size"), QStringLiteral("Size of the window in pictures"), QStringLiteral("WxH"),
       QStringLiteral("1280x800")},
      {{QStringLiteral("o"), QStringLiteral("output")},
       QStringLiteral("Folder for pictures and pages"),
       QStringLiteral("DIR"),
       QStringLiteral(".")},
      {QStringLiteral("exit-after-startup"), QStringLiteral("Close as soon as the window is shown")}};
}

ManOption shown(const QCommandLineOption& option) {
  ManOption shown{
      .names = {}, .value = option.valueName().toStdString(), .help = option.description().toStdString()};
  for (const QString& name : option.names())
    shown.names.push_back((name.size() == 1 ? "-" : "--") + name.toStdString());
  if (!option.defaultValues().isEmpty())
    shown.help += " (default: " + option.defaultValues().join(QLatin1Char(' ')).toStdString() + ")";
  if (!shown.help.ends_with('.')) shown.help += '.';
  return shown;
}

}  // namespace

WindowArguments::WindowArguments() {
  m_parser.setApplicationDescription(kAbout);
  m_options << m_parser.addHelpOption() << m_parser.addVersionOption();
  m_parser.addPositionalArgument(QStringLiteral("FILE"), kFiles, QStringLiteral("[FILE…]"));
  const QList<QCommandLineOption> own = ownOptions();
  m_parser.addOptions(own);
  m_options << own;
  QCommandLineOption page(kManPage);
  page.setFlags(QCommandLineOption::HiddenFromHelp);
  m_parser.addOption(page);
}

bool WindowArguments::asksForManPage() const {
  return m_parser.isSet(kManPage);
}

std::string WindowArguments::manPage() const {
  ManPage page("spanscope", "workbench for span queries", SPANSCOPE_VERSION);
  page.heading("SYNOPSIS");
  page.usage("spanscope", "[OPTIONS] [FILE...]");
  page.heading("DESCRIPTION");
  page.paragraph(
      "A span query is a prompt as a tree. The tree says which parts are independent of each other. In the "
      "window of Spanscope you build such a query and run it on the built-in inference engine. The window "
      "shows what the KV cache (key-value cache) reused, what was computed, and what the answer attends to.");
  page.paragraph("The window shows the manual with F1. spanq does the same on the command line.");
  page.heading("OPTIONS");
  page.option({.names = {"FILE"}, .value = {}, .help = kFiles.toStdString() + "."});
  for (const QCommandLineOption& option : m_options) page.option(shown(option));
  page.seeAlso({"spanq"});
  return page.text();
}

}  // namespace spanscope
