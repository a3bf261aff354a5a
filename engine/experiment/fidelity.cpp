// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/fidelity.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/policy/choice.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>

namespace spanscope::experiment {

namespace {

/// Max rows of one forward pass of the full prefill. This number limits the memory for attention and for
/// logits.
constexpr std::int64_t kObservedRows = 8;
constexpr std::int64_t kLogitRows = 64;

std::int64_t rowsThatFit(std::int64_t rows, std::int64_t keys, const model::ModelConfig& model) {
  const auto row = static_cast<std::uint64_t>(keys * model.layers * model.heads) * sizeof(float);
  return std::min(rows, static_cast<std::int64_t>(kFidelityAttentionBytes / std::max<std::uint64_t>(row, 1)));
}

/// Returns for each segment the index of its first visible token among all visible tokens. Nothing: the
/// segment has no visible token.
std::vector<std::optional<std::int64_t>> placesOf(const std::vector<trace::SegmentInfo>& segments) {
  std::vector<std::optional<std::int64_t>> places;
  std::int64_t next = 0;
  for (const trace::SegmentInfo& segment : segments) {
    if (segment.hidden) {
      places.emplace_back();
      continue;
    }
    places.emplace_back(next);
    next += static_cast<std::int64_t>(segment.tokens.size()) - segment.visibleBegin;
  }
  return places;
}

/// Returns the attention of one row in one layer under its policy, as [head][visible token].
std::vector<std::vector<double>> spread(const trace::AttentionMass& mass, std::size_t keys,
                                        const std::vector<trace::SegmentInfo>& segments,
                                        const std::vector<std::optional<std::int64_t>>& places) {
  std::vector<std::vector<double>> heads(static_cast<std::size_t>(mass.heads), std::vector<double>(keys, 0));
  auto value = mass.mass.begin();
  for (std::vector<double>& head : heads) {
    for (std::size_t i = 0; i < mass.keySegments.size(); ++i) {
      const std::uint32_t segment = mass.keySegments[i];
      for (std::int32_t local = 0; local < mass.keyBlocks[i]; ++local, ++value) {
        if (!places[segment] || local < segments[segment].visibleBegin) continue;
        const std::int64_t key = *places[segment] + local - segments[segment].visibleBegin;
        if (key < static_cast<std::int64_t>(keys))
          head[static_cast<std::size_t>(key)] += static_cast<double>(*value);
      }
    }
  }
  return heads;
}

class Measurement {
 public:
  Measurement(run::Session& session, const FidelityModel& model, const run::FinishedAnswer& answer,
              const std::stop_token& stop, const std::function<void(double)>& progress)
      : m_session(session),
        m_model(model),
        m_answer(answer),
        m_stop(stop),
        m_progress(progress),
        m_tokens(visibleTokens(answer.segments)) {
    m_measured.promptTokens = static_cast<std::int64_t>(m_tokens.size());
    m_tokens.insert(m_tokens.end(), answer.tokens.begin(), answer.tokens.end());
  }

  MeasuredAnswer measure() {
    const model::ModelConfig& config = m_model.decoder.config();
    const auto rows = static_cast<std::int64_t>(m_answer.tokens.size());
    const std::uint64_t bytes =
        m_answer.tokens.size() * static_cast<std::size_t>(config.vocabularySize) * sizeof(float);
    if (bytes > kFidelityBytes) {
      throw Failure(errorAt("answer", counted(m_answer.tokens.size(), "token"),
                            "at most " +
                                std::to_string(kFidelityBytes / sizeof(float) /
                                               static_cast<std::size_t>(config.vocabularySize)) +
                                ", so that the logits fit into " + std::to_string(kFidelityBytes >> 20U) +
                                " MiB"));
    }
    const std::int64_t observed =
        rowsThatFit(rows, static_cast<std::int64_t>(m_tokens.size() + m_answer.segments.size()), config);
    m_policy = m_session.replayAnswer(m_answer, static_cast<std::int32_t>(observed), m_stop);
    m_measured.cachedTokens = m_policy.cachedTokens;
    m_measured.recomputedTokens = m_policy.recomputedTokens;
    m_measured.attentionRows = static_cast<std::int32_t>(observed);
    m_measured.attentionDeviation.assign(observed > 0 ? static_cast<std::size_t>(config.layers) : 0, 0.0);

    FlatSequence full(m_model.decoder, m_model.backend, static_cast<std::int64_t>(m_tokens.size()),
                      m_session.config().blockSize, *m_session.config().kvType);
    std::optional<FlatSequence> exact;
    if (m_model.exactDecoder != nullptr) {
      m_arithmetic.emplace().arithmetic = compute::nameOf(m_model.arithmetic);
      exact.emplace(*m_model.exactDecoder, *m_model.exactBackend, static_cast<std::int64_t>(m_tokens.size()),
                    m_session.config().blockSize, *m_session.config().kvType);
      prefill(*exact);
    }
    prefill(full);
    compareRows(full, exact ? &*exact : nullptr, observed);
    answer(full);
    return {.fidelity = std::move(m_measured), .arithmetic = std::move(m_arithmetic)};
  }

 private:
  /// The local token whose logits give the first token of the answer.
  std::int64_t firstRow() const { return m_measured.promptTokens - 1; }
  std::span<const TokenId> tokens(std::int64_t begin, std::int64_t count) const {
    return std::span(m_tokens).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
  }

  /// Reports that full prefills computed `count` more tokens.
  void report(std::int64_t count) {
    m_computed += count;
    const std::size_t all = m_tokens.size() * (m_model.exactDecoder == nullptr ? 1 : 2);
    if (m_progress) m_progress(static_cast<double>(m_computed) / static_cast<double>(all));
  }

  void prefill(FlatSequence& full) {
    for (std::int64_t begin = 0; begin < firstRow();) {
      const std::int64_t count = std::min<std::int64_t>(m_session.config().rowsPerPass, firstRow() - begin);
      full.compute(begin, tokens(begin, count), FlatSequence::Rows::Silent, m_stop);
      begin += count;
      report(count);
    }
  }

  /// `exact` is null if there is no f32 decoder.
  void compareRows(FlatSequence& full, FlatSequence* exact, std::int64_t observed) {
    const auto rows = static_cast<std::int64_t>(m_answer.tokens.size());
    const auto width = static_cast<std::size_t>(m_model.decoder.config().vocabularySize);
    for (std::int64_t row = 0; row < rows;) {
      const bool isObserved = row < observed;
      const std::int64_t count =
          isObserved ? std::min(kObservedRows, observed - row) : std::min(kLogitRows, rows - row);
      const model::ForwardResult result =
          full.compute(firstRow() + row, tokens(firstRow() + row, count),
                       isObserved ? FlatSequence::Rows::Observed : FlatSequence::Rows::Logits, m_stop);
      for (std::int64_t i = 0; i < count; ++i) {
        const auto logits = std::span(result.logits).subspan(static_cast<std::size_t>(i) * width, width);
        compareTokens(static_cast<std::size_t>(row + i), logits);
        if (isObserved) compareAttention(row + i, static_cast<std::size_t>(i), result.mass);
      }
      if (exact != nullptr) compareArithmetic(*exact, row, count, result.logits);
      row += count;
      report(exact == nullptr ? count : 2 * count);
    }
    for (double& deviation : m_measured.attentionDeviation)
      deviation /= static_cast<double>(observed * m_model.decoder.config().heads);
  }

  void compareTokens(std::size_t row, std::span<const float> logits) {
    const Distribution full(logits);
    const Distribution policy(m_policy.logits[row]);
    const TokenId token = m_answer.tokens[row];
    m_measured.tokens.push_back({.token = token,
                                 .divergence = full.divergenceFrom(policy),
                                 .policyBest = policy.best(),
                                 .fullBest = full.best(),
                                 .policyProbability = policy.probability(token),
                                 .fullProbability = full.probability(token)});
  }

  /// `logits` are the logits of the same rows under the model's own arithmetic.
  void compareArithmetic(FlatSequence& exact, std::int64_t row, std::int64_t count,
                         std::span<const float> logits) {
    const model::ForwardResult result =
        exact.compute(firstRow() + row, tokens(firstRow() + row, count), FlatSequence::Rows::Logits, m_stop);
    const std::size_t width = logits.size() / static_cast<std::size_t>(count);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const Distribution one(std::span(result.logits).subspan(i * width, width));
      const Distribution other(logits.subspan(i * width, width));
      const TokenId token = m_answer.tokens[static_cast<std::size_t>(row) + i];
      m_arithmetic->tokens.push_back({.token = token,
                                      .divergence = one.divergenceFrom(other),
                                      .best = other.best(),
                                      .exactBest = one.best(),
                                      .probability = other.probability(token),
                                      .exactProbability = one.probability(token)});
    }
  }

  void compareAttention(std::int64_t row, std::size_t run, const std::vector<model::LayerMass>& mass) {
    const auto observed = static_cast<std::size_t>(m_measured.attentionRows);
    for (std::size_t layer = 0; layer < mass.size(); ++layer) {
      const std::vector<float>& full = mass[layer].runs[run].mass;
      const auto keys = static_cast<std::size_t>(firstRow() + row + 1);
      const auto policy =
          spread(policyMass(mass[layer].layer, row, layer * observed), keys, m_answer.segments, m_places);
      for (std::size_t head = 0; head < policy.size(); ++head) {
        double squares = 0;
        for (std::size_t key = 0; key < keys; ++key) {
          const double difference = policy[head][key] - static_cast<double>(full[head * keys + key]);
          squares += difference * difference;
        }
        m_measured.attentionDeviation[layer] += std::sqrt(squares);
      }
    }
  }

  /// Within a forward pass, the rows are ordered by layer. There may be several forward passes.
  const trace::AttentionMass& policyMass(std::int32_t layer, std::int64_t row, std::size_t likely) const {
    const auto local = static_cast<std::int32_t>(m_answer.segments.back().tokens.size()) - 1 +
                       static_cast<std::int32_t>(row);
    const auto isIt = [&](const trace::AttentionMass& mass) {
      return mass.layer == layer && mass.row == local;
    };
    const std::size_t place = likely + static_cast<std::size_t>(row);
    if (place < m_policy.attention.size() && isIt(m_policy.attention[place]))
      return m_policy.attention[place];
    const auto found = std::ranges::find_if(m_policy.attention, isIt);
    if (found == m_policy.attention.end())
      throw Failure(errorAt("attention", "a token without attention", "attention of each token"));
    return *found;
  }

  /// Generates the answer of a full prefill: the tokens on which answer and prefill agree, then the prefill's
  /// own tokens.
  void answer(FlatSequence& full) {
    std::vector<TokenId>& said = m_measured.fullAnswer;
    const std::vector<TokenId> ends = m_model.decoder.config().endTokenIds();
    const auto isEnd = [&](TokenId token) { return std::ranges::find(ends, token) != ends.end(); };
    TokenId next = m_measured.tokens.front().fullBest;
    bool agrees = true;
    while (true) {
      said.push_back(next);
      agrees = agrees && next == m_answer.tokens[said.size() - 1];
      if (said.size() == m_answer.tokens.size() || isEnd(next)) break;
      if (agrees) {
        next = m_measured.tokens[said.size()].fullBest;
        continue;
      }
      const std::int64_t place = m_measured.promptTokens + static_cast<std::int64_t>(said.size()) - 1;
      const model::ForwardResult result =
          full.compute(place, std::span(&said.back(), 1), FlatSequence::Rows::Logits, m_stop);
      next = Distribution(result.logits).best();
    }
    m_measured.fullText = textOf(said);
    m_measured.sameText = m_model.tokenizer == nullptr ? said == m_answer.tokens
                                                       : m_measured.fullText == textOf(m_answer.tokens);
  }

  std::string textOf(const std::vector<TokenId>& answer) const {
    if (m_model.tokenizer == nullptr) return {};
    text::StreamDecoder decoder(*m_model.tokenizer);
    std::string text;
    for (const TokenId token : answer) {
      if (!m_model.tokenizer->isControl(token)) text += decoder.push(token);
    }
    return text + decoder.finish();
  }

  run::Session& m_session;
  const FidelityModel& m_model;
  const run::FinishedAnswer& m_answer;
  const std::stop_token& m_stop;
  const std::function<void(double)>& m_progress;
  std::vector<TokenId> m_tokens;  ///< visible tokens of the prompt, then the answer
  std::vector<std::optional<std::int64_t>> m_places = placesOf(m_answer.segments);
  run::ReplayedAnswer m_policy;
  trace::FidelityMeasured m_measured;
  std::optional<trace::ArithmeticMeasured> m_arithmetic;
  std::int64_t m_computed = 0;  ///< tokens computed by full prefills
};

}  // namespace

std::vector<TokenId> visibleTokens(const std::vector<trace::SegmentInfo>& segments) {
  std::vector<TokenId> tokens;
  for (const trace::SegmentInfo& segment : segments) {
    if (!segment.hidden)
      tokens.insert(tokens.end(), segment.tokens.begin() + segment.visibleBegin, segment.tokens.end());
  }
  return tokens;
}

MeasuredAnswer measureFidelity(run::Session& session, const FidelityModel& model,
                               const run::FinishedAnswer& answer, const std::stop_token& stop,
                               const std::function<void(double share)>& progress) {
  return Measurement(session, model, answer, stop, progress).measure();
}

bool FinishedAnswers::takes(const trace::Payload& payload) {
  return std::holds_alternative<trace::RunStarted>(payload) ||
         std::holds_alternative<trace::SpanTableLaidOut>(payload) ||
         std::holds_alternative<trace::TeamFormed>(payload) ||
         std::holds_alternative<trace::TokenGenerated>(payload) ||
         std::holds_alternative<trace::StepFinished>(payload);
}

void FinishedAnswers::take(const trace::Event& event) {
  if (const auto* started = std::get_if<trace::RunStarted>(&event.payload)) {
    m_policies[event.run] = started->policy;
  } else if (const auto* table = std::get_if<trace::SpanTableLaidOut>(&event.payload)) {
    run::FinishedAnswer& answer = m_answers[event.request].answer;
    answer.run = event.run;
    answer.request = event.request;
    answer.node = event.node;
    answer.segments = table->segments;
  } else if (const auto* formed = std::get_if<trace::TeamFormed>(&event.payload)) {
    for (const RequestId request : formed->requests) m_answers[request].team = formed->requests;
  } else if (const auto* token = std::get_if<trace::TokenGenerated>(&event.payload)) {
    const auto found = m_answers.find(event.request);
    if (found != m_answers.end()) found->second.answer.tokens.push_back(token->token);
  } else if (const auto* end = std::get_if<trace::StepFinished>(&event.payload)) {
    const auto found = m_answers.find(event.request);
    if (found == m_answers.end()) return;
    found->second.ended = end->outcome == trace::StepOutcome::EndToken || trace::endedByLimit(end->outcome);
  }
}

std::vector<run::FinishedAnswer> FinishedAnswers::takeRun(RunId run) {
  std::vector<run::FinishedAnswer> answers;
  for (auto& [request, entry] : m_answers) {
    if (entry.answer.run != run || !entry.ended || entry.answer.tokens.empty()) continue;
    run::FinishedAnswer& answer = answers.emplace_back(entry.answer);
    for (const RequestId member : entry.team) {
      const run::FinishedAnswer& other = m_answers.at(member).answer;
      answer.teammates.members.push_back(
          {.request = member, .segments = other.segments, .answer = other.tokens});
    }
  }
  const std::string policy = m_policies[run];
  std::erase_if(m_policies, [run](const auto& entry) { return entry.first <= run; });
  std::erase_if(m_answers, [run](const auto& entry) { return entry.second.answer.run <= run; });
  if (answers.empty()) return answers;
  const auto read = policy::readChoice(policy);
  if (const auto* problem = std::get_if<policy::ChoiceProblem>(&read)) {
    throw Failure(errorAt("policy of run " + std::to_string(run), '"' + policy + '"',
                          "a policy of this program: " + problem->expected));
  }
  for (run::FinishedAnswer& answer : answers) answer.policy = std::get<policy::Choice>(read);
  return answers;
}

Distribution::Distribution(std::span<const float> logits) : m_logits(logits) {
  if (logits.empty()) return;
  const auto best = std::ranges::max_element(logits);
  m_best = static_cast<TokenId>(best - logits.begin());
  const auto most = static_cast<double>(*best);
  double total = 0;
  for (const float logit : logits) total += std::exp(static_cast<double>(logit) - most);
  m_logTotal = most + std::log(total);
}

double Distribution::logProbability(TokenId token) const {
  return static_cast<double>(m_logits[static_cast<std::size_t>(token)]) - m_logTotal;
}

double Distribution::probability(TokenId token) const {
  return std::exp(logProbability(token));
}

double Distribution::divergenceFrom(const Distribution& other) const {
  double sum = 0;
  for (std::size_t i = 0; i < m_logits.size(); ++i) {
    const auto token = static_cast<TokenId>(i);
    const double mine = logProbability(token);
    const double weight = std::exp(mine);
    if (weight > 0) sum += weight * (mine - other.logProbability(token));
  }
  // Rounding can make a value near 0 negative.
  return std::max(0.0, sum);
}

FlatSequence::FlatSequence(model::Decoder& decoder, compute::Backend& backend, std::int64_t tokens,
                           std::int32_t blockSize, compute::DType keysAndValues)
    : m_decoder(decoder),
      m_blockSize(blockSize),
      m_blocks(static_cast<std::size_t>((tokens + blockSize - 1) / blockSize)) {
  std::iota(m_blocks.begin(), m_blocks.end(), 1);
  const auto blocks = static_cast<std::int32_t>(m_blocks.size()) + 1;
  m_store = backend.makeKvStore(decoder.kvShape(blocks, blockSize, keysAndValues));
}

model::ForwardResult FlatSequence::compute(std::int64_t begin, std::span<const TokenId> tokens, Rows rows,
                                           const std::stop_token& stop) {
  model::Batch batch;
  batch.logitsWanted = rows != Rows::Silent;
  const auto count = static_cast<std::int32_t>(tokens.size());
  const auto addRun = [&](std::int32_t first, std::int32_t number) {
    compute::QueryRun& run = batch.runs.emplace_back();
    run.firstRow = first;
    run.rowCount = number;
    run.keys.push_back({.blocks = m_blocks,
                        .begin = 0,
                        .end = static_cast<std::int32_t>(begin) + first + number,
                        .base = 0,
                        .causal = true});
  };
  for (std::int32_t row = 0; row < count; ++row) {
    const std::int64_t place = begin + row;
    batch.tokens.push_back(tokens[static_cast<std::size_t>(row)]);
    batch.localIndices.push_back(static_cast<std::int32_t>(place));
    batch.slots.push_back(std::int64_t{m_blocks[static_cast<std::size_t>(place / m_blockSize)]} *
                              m_blockSize +
                          place % m_blockSize);
    if (rows != Rows::Silent) batch.logitRows.push_back(row);
    if (rows != Rows::Observed) continue;
    batch.mass.runs.push_back(static_cast<std::uint32_t>(batch.runs.size()));
    batch.mass.keySpans.push_back(1);
    addRun(row, 1);
  }
  if (rows == Rows::Observed) {
    batch.massLayers.resize(static_cast<std::size_t>(m_decoder.config().layers));
    std::iota(batch.massLayers.begin(), batch.massLayers.end(), 0);
  } else {
    addRun(0, count);
  }
  model::ForwardResult result = m_decoder.forward(batch, *m_store, stop);
  if (result.stopped || stop.stop_requested())
    throw Failure(errorAt("full prefill", "The job was stopped.", {}));
  return result;
}

}  // namespace spanscope::experiment
