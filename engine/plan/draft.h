// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the draft: the tree that the rewrite rules change. A draft is the query after its parameters and
// documents were resolved. Each node knows its origin in the query. Open this file before you write a rewrite
// rule.
#pragma once

#include "engine/base/error.h"
#include "engine/plan/plan.h"
#include "engine/query/node_parts.h"
#include "engine/query/visit_fields.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::plan {

/// The settings of a generate node: all fields except the input. An absent or null temperature has the
/// default of makeDraft(). `maxTokens` is nothing if max_tokens is absent, null, or not above 0.
struct DraftSettings {
  std::string model;
  std::optional<std::int32_t> maxTokens;
  float temperature = query::kDefaultTemperature;
  bool operator==(const DraftSettings&) const = default;
};

struct Draft {
  /// A rule marks the nodes that it made.
  enum class Mark {
    None,
    Done,       ///< the rule does not match this node again
    AnswerOnly  ///< a judge of attention locality: like Done; prompts contain the judge's answer but never
                ///< its prompt
  };

  std::size_t op = query::kIndexOf<query::Join>;  ///< index of the operator in query::Operators
  NodePath node;                                  ///< origin of the node in the given query
  query::Role role = query::Role::User;           ///< for a message
  std::string text;                               ///< for nodes with a text: messages, prints
  query::JoinKind join = query::JoinKind::Seq;    ///< for a join
  DraftSettings settings;                         ///< for nodes that generate
  std::uint32_t count = 0;                        ///< for a repeat: the number of runs of its generate node
  std::vector<std::string> inputs;           ///< for a map: the inputs; the model answers each one separately
  OutputForm form = OutputForm::Recomputed;  ///< for a generate node: form of the output in the outer prompt
  std::uint32_t call = 0;  ///< for a generate node: places with equal numbers share one output
  Mark mark = Mark::None;
  std::vector<Draft> children;  ///< as many as the operator takes

  const Draft& input() const { return children.front(); }
  template <class Operator>
  bool is() const {
    return op == query::kIndexOf<Operator>;
  }
  bool isJoin(query::JoinKind kindOfJoin) const { return is<query::Join>() && join == kindOfJoin; }
  /// Returns the properties of the operator.
  const query::OperatorShape& shape() const { return query::shapeOf(op); }
  const query::OperatorInfo& info() const { return shape().info; }
  /// Returns the key of the operator: "user", "plus", …
  const char* name() const;
};

/// Whether the draft gives no tokens to a prompt. Such a draft is a message without text, a print, a dropped
/// step or a join without children.
bool givesNothing(const Draft& draft);
/// Whether a message gives no tokens. A system message without text is not silent. Some chat templates write
/// an empty system message, which replaces the template's own system message.
bool isSilent(const Draft& message);

/// The size of a tree, in the units of PlanLimits.
struct DraftSize {
  std::size_t nodes = 0;
  std::size_t textBytes = 0;
};
DraftSize sizeOf(const Draft& draft);

/// Makes the draft of a query. Appends to `problems` everything that cannot be planned. After a problem, do
/// not use the draft. Calls have numbers from 1.
Draft makeDraft(const query::Node& query, float defaultTemperature, OutputForm outputForm,
                std::size_t maxDepth, std::vector<Error>& problems);

/// Max number of lines of a tree. If lines are left out, one more line shows the number of these lines.
inline constexpr std::size_t kMaxTreeLines = 2000;

/// Returns the draft from the top down, one line per node. No line is marked as changed. Equal adjacent nodes
/// share one line, which shows their number.
std::vector<TreeLine> treeOf(const Draft& draft);

// Short texts for the user: a draft on one line, and texts in quotes.

/// Returns the draft on one line, e.g. `g(cross(system, plus(user ×3), user))`. A subquery result is a pair
/// in parentheses. The line is truncated to a readable length.
std::string outline(const Draft& draft);

/// Returns the text in quotes, truncated to about `limit` bytes. Line ends and control characters are
/// escaped.
std::string quoted(std::string_view text, std::size_t limit);

}  // namespace spanscope::plan
