// SPDX-License-Identifier: GPL-3.0-or-later
// The tree that the rewrite rules work on: the query after the earlier steps have resolved their parts of it.
// Each node knows the place in the query that it came from.
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

/// The settings of a generate: everything besides its input. The defaults of the language are filled in.
struct DraftSettings {
  std::string model;
  std::optional<std::int32_t> maxTokens;
  float temperature = query::kDefaultTemperature;
  bool operator==(const DraftSettings&) const = default;
};

struct Draft {
  /// A rule leaves a mark on the nodes that it made.
  enum class Mark {
    None,
    Done,      ///< the rule does not match this node again
    ReplyOnly  ///< a judge of attention locality: like Done; also, prompts contain its reply but never its
               ///< prompt
  };

  std::size_t op = query::kIndexOf<query::Join>;  ///< index of its operator in query::Operators
  NodePath node;                                  ///< the place in the given query that it came from
  query::Role role = query::Role::User;           ///< for a message
  std::string text;                               ///< for nodes with a text: messages, prints
  query::JoinKind join = query::JoinKind::Seq;    ///< for a join
  DraftSettings settings;                         ///< for nodes that answer
  std::uint32_t count = 0;                        ///< for a repeat: how often its generate runs
  std::vector<std::string> inputs;                ///< for a map: the inputs, each answered on its own
  OutputForm form = OutputForm::Anew;  ///< for a generate: how its output reaches the prompt in which it
                                       ///< stands
  std::uint32_t call = 0;  ///< for a generate: equal numbers mean the same output, used in several places
  Mark mark = Mark::None;
  std::vector<Draft> children;  ///< as many as the operator takes

  const Draft& input() const { return children.front(); }
  template <class Operator>
  bool is() const {
    return op == query::kIndexOf<Operator>;
  }
  bool isJoin(query::JoinKind kindOfJoin) const { return is<query::Join>() && join == kindOfJoin; }
  /// What is known of its operator.
  const query::OperatorShape& shape() const { return query::shapeOf(op); }
  const query::OperatorInfo& info() const { return shape().info; }
  /// The key of its operator: "user", "plus", …
  const char* name() const;
};

/// Whether no token of a prompt comes from the draft: a message without text, a print, a dropped step or a
/// join without children.
bool givesNothing(const Draft& draft);
/// Whether a message gives no tokens. A system message without text is not silent: some chat templates write
/// its turn, and it takes the place of their own system message.
bool isSilent(const Draft& message);

/// The size of a tree, in the units of PlanLimits.
struct DraftSize {
  std::size_t nodes = 0;
  std::size_t textBytes = 0;
};
DraftSize sizeOf(const Draft& draft);

/// Makes the draft of a query. Everything that cannot be planned is appended to `problems`; then do not use
/// the draft. Calls are numbered from 1.
Draft makeDraft(const query::Node& query, float defaultTemperature, OutputForm outputForm,
                std::size_t maxDepth, std::vector<Error>& problems);

/// Most lines of a tree. If the tree has more, one further line says how many are left out.
inline constexpr std::size_t kMaxTreeLines = 2000;

/// The draft from the top down, one line per node; no line is marked as changed. Equal neighbours are one
/// line with their number.
std::vector<TreeLine> treeOf(const Draft& draft);

// Short texts for people: a draft on one line, and texts in quotes.

/// The draft on one line, e.g. `g(cross(system, plus(user ×3), user))`. A closure is written `(its prompt,
/// reply)`. The line is cut to a readable length.
std::string outline(const Draft& draft);

/// The text in quotes, cut to about `limit` bytes. Line ends and control characters are escaped.
std::string quoted(std::string_view text, std::size_t limit);

}  // namespace spanscope::plan
