// SPDX-License-Identifier: GPL-3.0-or-later
// Writes requests of a log as queries: as they were sent, and with spans for repeated parts. Open this file
// to propose another kind of part.
#pragma once

#include "engine/doctor/log_reader.h"
#include "engine/doctor/logged_request.h"
#include "engine/query/parameters.h"
#include "engine/query/query.h"

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

namespace spanscope::doctor {

/// Counts in how many requests of a log each part occurs: tools, messages, and documents of messages.
class PartCounts {
 public:
  void add(const LoggedRequest& request);
  /// The number of requests that have this part.
  std::size_t of(std::string_view part) const;
  std::size_t requests() const { return m_requests; }

 private:
  struct Count {
    std::uint32_t requests = 0;
    std::uint32_t last = 0;  ///< number of the last request, from 1
  };
  std::unordered_map<std::uint64_t, Count> m_counts;  ///< by hash
  std::size_t m_requests = 0;
};

/// Counts the parts of all requests of a log. Returns early after a stop request.
PartCounts countParts(const LogReader& log, const std::stop_token& stop = {});

/// The parts that become independent of each other.
enum class SpanKind : std::uint8_t {
  Tools,      ///< each tool definition
  Examples,   ///< each example: a question and its answer that other requests have, too
  History,    ///< each earlier turn of the conversation
  Documents,  ///< each document of a message
};

/// A proposal: these parts of a prompt become the children of a plus. The children do not attend to each
/// other, so answers can change.
struct SpanProposal {
  SpanKind kind = SpanKind::Documents;
  std::size_t message = 0;  ///< the message with the documents, or the first message of examples or history
  std::size_t parts = 0;    ///< children of the plus
  std::size_t tokens = 0;   ///< of the parts, estimated by characters
  std::size_t shared = 0;   ///< parts that other requests of the log have, too
  std::string name;         ///< "3 documents of message 2 (user)"
  bool byDefault = false;   ///< whether the parts are usually independent
};

/// Returns the proposals for a request in the order of its prompt.
std::vector<SpanProposal> proposeSpans(const LoggedRequest& request, const PartCounts& counts);

/// A query, and the declarations of its parameters.
struct SpanQuery {
  query::Node query;
  std::vector<query::ParameterDeclaration> parameters;
};

/// Writes a request as a query: messages in their order, under a generate node. Tool definitions become a
/// system message, and tool results become user messages. Secrets are redacted. `accepted`: the proposals
/// whose parts become spans.
SpanQuery queryOf(const LoggedRequest& request, const std::vector<SpanProposal>& accepted = {});

/// Writes a template for all requests of a log. A part becomes a parameter if fewer than half of the requests
/// have this part. The default of the parameter is the text of this request.
SpanQuery templateOf(const LoggedRequest& request, const PartCounts& counts,
                     const std::vector<SpanProposal>& accepted);

}  // namespace spanscope::doctor
