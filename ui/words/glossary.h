// SPDX-License-Identifier: GPL-3.0-or-later
// The glossary: the special words of the window with their meanings. Tool tips show these texts. A test
// checks that the glossary page of the manual has the same texts.
#pragma once

#include <QString>
#include <QStringView>

#include <vector>

namespace spanscope::ui {

struct Term {
  QString id;       ///< the term in code: "ttft"
  QString word;     ///< the term in the window: "TTFT"
  QString meaning;  ///< one or two sentences that do not begin with the word itself
};

/// All terms, grouped by subject as on the manual's page.
const std::vector<Term>& glossary();

/// The term with this id; nullptr: there is none.
const Term* findTerm(QStringView id);

/// The text for a tool tip: "TTFT: time to first token, …". Returns the id itself if it is no term.
QString explain(QStringView id);

}  // namespace spanscope::ui
