// SPDX-License-Identifier: GPL-3.0-or-later
// Which measure of attention names the documents that an answer used: generated questions are asked, and of
// those that were answered right it is counted how often a measure ranks the needed documents above all
// others.
#pragma once

#include "engine/experiment/source_measures.h"
#include "engine/experiment/source_questions.h"
#include "engine/run/session.h"
#include "engine/trace/sink.h"

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::experiment {

/// Keeps what the last run read; the session that is measured sends to it.
class ReplySink final : public trace::Sink {
 public:
  std::uint64_t send(RunId run, RequestId request, const NodePath& node, trace::Payload payload) override;
  /// Of the last request since the one before; leaves nothing.
  ReadReply take();

 private:
  ReadReply m_reply;
  std::uint64_t m_sequence = 0;
};

struct AskedQuestion {
  std::vector<std::int32_t> needed;  ///< places of documents
  bool isRight = false;              ///< answered word for word
  ReadReply reply;
};

/// Asks the first so many questions of a world with the policy `spans`, each with an empty cache: where
/// documents are no segments of their own, nothing is told of them. Throws Failure if it was stopped or could
/// not run.
std::vector<AskedQuestion> askQuestions(run::Session& session, ReplySink& sink, const SourceWorld& world,
                                        std::int32_t questions, std::int32_t layers,
                                        const std::stop_token& stop);

/// Questions that need one document, and those that need two.
struct SourceCount {
  std::int32_t one = 0;
  std::int32_t two = 0;
  std::int32_t both() const { return one + two; }
  bool operator==(const SourceCount&) const = default;
};
SourceCount countAsked(const std::vector<AskedQuestion>& asked);
SourceCount countRight(const std::vector<AskedQuestion>& asked);

/// Right answers whose needed documents all rank above every other one; where two documents are equal, they
/// do not.
SourceCount countFound(const std::vector<AskedQuestion>& asked, const Reading& read);

/// The heads, at most `most`, whose sum finds most of these questions: the best one, and then whichever adds
/// most as long as one does.
std::vector<Head> bestHeads(const std::vector<AskedQuestion>& asked, std::size_t most);

}  // namespace spanscope::experiment
