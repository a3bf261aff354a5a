// SPDX-License-Identifier: GPL-3.0-or-later
// Explains every word that a newcomer would not know, in one place. Tool tips use these texts. A test checks
// that the manual's page of these words says the same.
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
