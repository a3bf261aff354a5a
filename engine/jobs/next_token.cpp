// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/jobs/next_token.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/experiment/fidelity.h"
#include "engine/run/session.h"
#include "engine/workbench/service/job_context.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>

namespace spanscope::jobs {
namespace {

using Rows = std::vector<std::vector<float>>;

/// The logits from which the tokens of an answer would be sampled in a full prefill.
Rows fullRows(const run::Session& session, const workbench::ModelBundle& bundle,
              const run::FinishedAnswer& answer, const std::stop_token& stop) {
  constexpr std::int64_t kRows = 64;
  using experiment::FlatSequence;
  std::vector<TokenId> tokens = experiment::visibleTokens(answer.segments);
  const std::int64_t first = static_cast<std::int64_t>(tokens.size()) - 1;
  tokens.insert(tokens.end(), answer.tokens.begin(), answer.tokens.end());
  FlatSequence full(*bundle.decoder, *bundle.backend, static_cast<std::int64_t>(tokens.size()),
                    session.config().blockSize, *session.config().kvType);
  // The last token of the answer is only sampled.
  const std::int64_t end = static_cast<std::int64_t>(tokens.size()) - 1;
  const auto width = static_cast<std::size_t>(bundle.config.vocabularySize);
  Rows rows;
  for (std::int64_t begin = 0; begin < end;) {
    const bool isSilent = begin < first;
    const std::int64_t count = isSilent ? std::min<std::int64_t>(session.config().rowsPerPass, first - begin)
                                        : std::min(kRows, end - begin);
    const model::ForwardResult result = full.compute(
        begin, std::span(tokens).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count)),
        isSilent ? FlatSequence::Rows::Silent : FlatSequence::Rows::Logits, stop);
    for (std::int64_t row = 0; !isSilent && row < count; ++row) {
      const auto at =
          result.logits.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(row) * width);
      rows.emplace_back(at, at + static_cast<std::ptrdiff_t>(width));
    }
    begin += count;
  }
  return rows;
}

std::vector<TokenId> likeliest(const std::vector<float>& logits) {
  std::vector<TokenId> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  const std::size_t count = std::min(NextTokenJob::kMostAlternatives, ids.size());
  std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count), ids.end(),
                    [&logits](TokenId a, TokenId b) {
                      const float left = logits[static_cast<std::size_t>(a)];
                      const float right = logits[static_cast<std::size_t>(b)];
                      return left > right || (left == right && a < b);
                    });
  ids.resize(count);
  return ids;
}

NextToken compared(TokenId drawn, const std::vector<float>& own, const std::vector<float>& other,
                   const text::Tokenizer* tokenizer) {
  const experiment::Distribution mine(own);
  const experiment::Distribution theirs(other);
  NextToken token{.drawn = drawn,
                  .alternatives = {},
                  .divergence = theirs.divergenceFrom(mine),
                  .ownBest = mine.best(),
                  .otherBest = theirs.best()};
  const auto add = [&](TokenId id) {
    if (token.find(id) != nullptr) return;
    token.alternatives.push_back({.token = id,
                                  .text = tokenizer != nullptr ? tokenizer->display(id) : std::to_string(id),
                                  .own = mine.probability(id),
                                  .other = theirs.probability(id)});
  };
  for (const TokenId id : likeliest(own)) add(id);
  for (const TokenId id : likeliest(other)) add(id);
  add(drawn);
  std::stable_sort(token.alternatives.begin(), token.alternatives.end(),
                   [](const Alternative& a, const Alternative& b) {
                     return std::max(a.own, a.other) > std::max(b.own, b.other);
                   });
  return token;
}

}  // namespace

const Alternative* NextToken::find(TokenId wanted) const {
  const auto found = std::find_if(alternatives.begin(), alternatives.end(),
                                  [wanted](const Alternative& each) { return each.token == wanted; });
  return found == alternatives.end() ? nullptr : &*found;
}

std::vector<RequestId> NextTokenJob::answers(const NextTokenChoice& choice) {
  if (choice.other == 0) return {choice.request};
  return {choice.request, choice.other};
}

bool NextTokenJob::isSound(const Result& result) {
  const auto isShare = [](double share) { return share >= 0 && share <= 1; };
  return std::all_of(result.begin(), result.end(), [&](const NextToken& token) {
    return token.divergence >= 0 && std::isfinite(token.divergence) &&
           std::all_of(token.alternatives.begin(), token.alternatives.end(),
                       [&](const Alternative& each) { return isShare(each.own) && isShare(each.other); });
  });
}

std::shared_ptr<RecordedJob> NextTokenJob::make(const NextTokenChoice& choice,
                                                std::vector<run::FinishedAnswer> answers) {
  return std::make_shared<AnswerJob<NextTokenJob>>(choice, std::move(answers));
}

std::vector<NextToken> NextTokenJob::compute(workbench::JobContext& place, const NextTokenChoice& /*choice*/,
                                             const std::vector<run::FinishedAnswer>& answers,
                                             const std::stop_token& stop) {
  const run::FinishedAnswer& answer = answers.front();
  run::Session& session = place.sessionOf(answer.run);
  const workbench::ModelBundle& bundle = *place.model();
  const std::uint64_t row = static_cast<std::uint64_t>(bundle.config.vocabularySize) * sizeof(float);
  if (answer.tokens.size() * row > experiment::kFidelityBytes / 2)
    throw Failure({.file = {},
                   .place = "reply",
                   .found = counted(answer.tokens.size(), "token"),
                   .expected = "at most " + std::to_string(experiment::kFidelityBytes / 2 / row) +
                               ": the logits of both sides must fit into memory"});
  const Rows own = session.replayAnswer(answer, 0, stop).logits;
  Rows other;
  if (answers.size() > 1) {
    run::FinishedAnswer same = answers[1];
    same.tokens = answer.tokens;
    other = session.replayAnswer(same, 0, stop).logits;
  } else {
    other = fullRows(session, bundle, answer, stop);
  }
  std::vector<NextToken> found;
  for (std::size_t i = 0; i < answer.tokens.size(); ++i)
    found.push_back(compared(answer.tokens[i], own[i], other[i], bundle.tokenizer.get()));
  return found;
}

}  // namespace spanscope::jobs
