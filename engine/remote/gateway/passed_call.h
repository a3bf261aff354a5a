// SPDX-License-Identifier: GPL-3.0-or-later
// A request of OpenAI's API that passes the gateway, as a query. Everything that the gateway does not need
// stays as it is. Open this file to change how clients mark the children of a plus.
//
// The field "spanscope" of a chat marks messages whose order has no meaning:
//
//   {"model": …, "messages": […], "spanscope": {"plus": [[1, 2, [3, 4]]]}}
//
// A group is a list of at least two children. A child is the index of a message, from 0, or a list of indices
// of messages that stay together. The messages of a group follow each other. A group may be inside a child of
// another group.
#pragma once

#include "engine/base/ids.h"
#include "engine/export/chat_requests.h"
#include "engine/query/query.h"
#include "engine/remote/chat/remote_run.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::gateway {

enum class CallKind : std::uint8_t {
  Other,       ///< passes without a run
  Chat,        ///< /v1/chat/completions
  Completion,  ///< /v1/completions
  Query        ///< /v1/query/execute, SPNL's endpoint
};
/// Returns the kind of a request. `target`: path and query.
CallKind callKindOf(std::string_view method, std::string_view target);

/// A chat or a completion.
struct PassedCall {
  CallKind kind = CallKind::Other;
  /// The messages of a chat as sent, with the groups of the children of each plus. The text of a completion
  /// is one message. Each message has its node in query().
  exports::ChatRequest request{};
  std::int32_t choices = 1;  ///< answers to the prompt, at least 1
  bool isStream = false;
  bool isMarked = false;  ///< the body has the field "spanscope"
  /// The reason why the tokens of the prompt are not known: "the request has tools". Empty: the
  /// tokens are known.
  std::string unknownPrompt{};
  std::string problem{};  ///< the reason why the body has no messages; empty: no problem
};

/// Reads a body leniently, because the upstream server checks the body. Throws ApiFailure only for a wrong
/// field "spanscope".
PassedCall readPassedCall(CallKind kind, std::string_view body);

/// Returns the request as a query, with a plus for each group.
query::Node queryOf(const PassedCall& call);

/// Returns the body of a marked chat for the upstream server. The body has no field "spanscope", and has the
/// messages and notes of `order`. Without messages in `order`, the messages are as written.
std::string bodyInOrder(std::string_view body, const remote::SentOrder& order);

}  // namespace spanscope::gateway
