// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/json/json.h"
#include "engine/remote/chat/chat_protocol.h"
#include "engine/spnl/request_text.h"

#include <stdexcept>

namespace spanscope::remote {
namespace {

Outgoing spnlOutgoing(const Sending& sending) {
  if (sending.call == nullptr) throw std::invalid_argument("queries are sent as calls");
  const query::Node body = exports::queryBody(*sending.call, sending.replies, sending.model);
  const bool isStreamed = !spnl::wantsOneToken(body);
  // Only Spanscope reads the field `include_usage`. Other servers ignore this field.
  return {.body = query::writeCanonical(body),
          .query = isStreamed ? "stream=true&include_usage=true" : "stream=false",
          .mayBeEmpty = !isStreamed};
}

/// vLLM with the span patch counts no tokens.
CacheReporting spnlReporting(const ServerKindInfo& kind) {
  return kind.kind == ServerKind::Spanscope ? kind.cached : CacheReporting::Never;
}

}  // namespace

/// SPNL's query endpoint, which servers with span support have. The call contains the joins. The server can
/// then reuse each span at any position of the prompt.
extern const Protocol kSpnlProtocol;
constinit const Protocol kSpnlProtocol{
    .name = "spnl",
    .title = "SPNL's query endpoint",
    .help = "Sends each call with its joins, so spans are cache hits at any position. Sends no seed.",
    .path = "/v1/query/execute",
    .form = "curl",
    .takesCalls = true,
    .contentType = "text/plain",
    .reporting = &spnlReporting,
    .write = &spnlOutgoing,
    .answers = &kChoices};

}  // namespace spanscope::remote
