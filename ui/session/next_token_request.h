// SPDX-License-Identifier: GPL-3.0-or-later
// A person can ask what might have stood at each place of an answer, under its policy and another one. This
// file says what the engine is asked for, why it cannot be asked now, and what came of it.
#pragma once

#include "engine/base/ids.h"
#include "engine/workbench/service/next_token_work.h"

#include <QString>

#include <memory>
#include <vector>

namespace spanscope::ui {

struct ViewInput;

struct NextTokenChoice {
  RequestId request = 0;
  RequestId other = 0;  ///< a request with the same prompt, whose policy is compared with; 0: a full prefill
  bool operator==(const NextTokenChoice&) const = default;
};

/// What is known of a choice: it is being computed, failed, or is there.
struct NextTokenResult {
  NextTokenChoice choice;
  bool isRunning = false;
  QString problem;                                                  ///< why it failed; empty: it did not
  std::shared_ptr<const std::vector<workbench::NextToken>> tokens;  ///< null: not there
};

/// The requests whose prompts show the same tokens as this one's, under other policies: the newest of each
/// policy.
std::vector<RequestId> otherPolicies(const ViewInput& input, RequestId request);
/// The policy of a request's run, as documents write it.
QString policyOf(const ViewInput& input, RequestId request);

/// Why it cannot be computed now, as a sentence. Empty if it can.
QString nextTokenObstacle(const ViewInput& input, const NextTokenChoice& choice);
/// The choice in the form that the engine takes. Call it only if nextTokenObstacle() is empty.
std::shared_ptr<workbench::NextTokenWork> nextTokenWork(const ViewInput& input,
                                                        const NextTokenChoice& choice);

}  // namespace spanscope::ui
