// SPDX-License-Identifier: GPL-3.0-or-later
// Every word that a newcomer would not know, said once: tool tips take it from here, and the manual's page
// of the same words is held to it by a test.
#pragma once

#include <QString>
#include <QStringView>

#include <vector>

namespace spanscope::ui {

struct Term {
  QString id;       ///< "ttft": in code
  QString word;     ///< "TTFT": as the window writes it
  QString meaning;  ///< one or two sentences, without the word itself before it
};

/// In the order of the page: by what they are about.
const std::vector<Term>& glossary();

/// nullptr: there is no such term.
const Term* findTerm(QStringView id);

/// "TTFT: time to first token, …", for a tool tip; the id itself for what is not in the table.
QString explain(QStringView id);

}  // namespace spanscope::ui
