// SPDX-License-Identifier: GPL-3.0-or-later
// A comparison of reuse policies as a table, as sentences, and as answers token by token.
#pragma once

#include "ui/session/measure_requests.h"
#include "ui/session/view_input.h"
#include "ui/views/common/table_painting.h"

#include <QString>
#include <QStringList>

#include <cstddef>
#include <vector>

namespace spanscope::ui {

struct AnswerToken {
  QString text;
  bool differs = false;  ///< a full prefill of the same tokens would choose another token here
  QString help;          ///< the token's divergence, and the choice of a full prefill
  bool operator==(const AnswerToken&) const = default;
};

struct PolicyAnswer {
  QString name;   ///< the policy, and the step if there are several steps
  QString facts;  ///< the fidelity of the answer; empty: not measured
  std::vector<AnswerToken> tokens;
  bool operator==(const PolicyAnswer&) const = default;
};

struct PoliciesModel {
  bool isKnown = false;  ///< there is a finished or running comparison
  bool isRunning = false;
  double progress = 0;  ///< 0 … 1
  QString doing;        ///< the current action of a running comparison
  QString setup;        ///< "spanlet · CPU, 2 threads · block size 16"
  /// A row for each policy, with its values. "–": not measured. A cell is bold if no other row of the column
  /// is better, and some row is worse.
  PaintedTable table;
  QStringList warnings;
  QStringList remarks;
  std::vector<PolicyAnswer> answers;
  bool operator==(const PoliciesModel&) const = default;
};

PoliciesModel policiesModel(const ViewInput& input);

/// A line for each policy, with plain numbers.
QString policiesCsv(const PolicyComparison& comparison);
/// The shown table as text, with tabs between the cells, and the answers.
QString policiesText(const PoliciesModel& model);

}  // namespace spanscope::ui
