// SPDX-License-Identifier: GPL-3.0-or-later
// The glossary explains the special words of the window. Tool tips show these texts. A test checks that the
// glossary page of the manual has the same texts.
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

/// Returns all terms, grouped by subject as on the manual's page.
const std::vector<Term>& glossary();

/// Returns the term with this id. nullptr: there is none.
const Term* findTerm(QStringView id);

/// Returns the text for a tool tip: "TTFT: time to first token, …". If no term has the id, returns the id.
QString explain(QStringView id);

}  // namespace spanscope::ui
