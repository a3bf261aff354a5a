// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/rotation/rotation_model.h"

#include "ui/session/job_results.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/common/segment_names.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace spanscope::ui {
namespace {

/// Shift of a pair, in positions, if the trace has no other start position of the key.
constexpr std::int64_t kMoved = 100;

class TurnMaker {
 public:
  TurnMaker(const ViewInput& input, RequestId id, const trace::RequestState& request)
      : m_input(input), m_request(request), m_parts(requestParts(input, id)) {
    m_model.choice.request = id;
  }

  RotationModel make(const RotationOptions& options) {
    choosePair(options);
    const trace::TokenPlace& query = m_model.choice.query;
    const trace::TokenPlace& key = m_model.choice.key;
    m_model.queryName = nameOf(query, m_model.queryHue);
    m_model.keyName = nameOf(key, m_model.keyHue);
    m_model.queryPosition = m_request.segments[query.segment].base + query.local;
    m_model.base = m_request.segments[key.segment].base;
    m_model.keyLocal = key.local;
    const jobs::JobCall call = jobs::callOf<jobs::PairVectorsJob>(m_model.choice);
    m_model.reason = jobReason(m_input, call);
    m_model.isAhead = isAhead();
    m_model.isRunning = isRunning(m_input, call);
    m_model.problem = jobProblem(m_input, call);
    if (const auto vectors = jobResult<jobs::PairVectorsJob>(m_input, m_model.choice))
      fill(options, *vectors);
    return std::move(m_model);
  }

 private:
  /// The key is the selected token if the query token attends to the selected token. Otherwise the key is a
  /// token at the beginning of a source.
  void choosePair(const RotationOptions& options) {
    const auto last = static_cast<std::uint32_t>(m_request.segments.size() - 1);
    const auto end = static_cast<std::int32_t>(m_request.segments[last].tokens.size());
    m_model.choice.query = {last, std::max(0, end - 1)};
    if (options.query && options.query->request == m_model.choice.request &&
        options.query->segment < m_request.segments.size())
      m_model.choice.query = {options.query->segment, options.query->local};
    const trace::WhoSees mask(m_request.segments);
    const auto take = [&](const trace::TokenPlace& key) {
      if (!trace::isSeen(mask.sight(m_model.choice.query, key))) return false;
      m_model.choice.key = key;
      return true;
    };
    const std::optional<TokenRef>& token = m_input.selection.token;
    const std::optional<BlockRef>& block = m_input.selection.block;
    if (token && token->request == m_model.choice.request) {
      if (take({token->segment, token->local})) return;
    } else if (block && block->request == m_model.choice.request) {
      const std::int32_t size = std::max(1, m_input.state().pool().blockSize());
      if (take({block->segment, block->virtualIndex * size})) return;
    }
    for (const trace::PartRange& range : m_parts.parts.visible()) {
      if (m_parts.parts.role(range.part) != trace::PartRole::Source) continue;
      if (take({range.segment, std::min(range.begin + 1, range.end - 1)})) return;
    }
    m_model.choice.key = m_model.choice.query;
  }

  /// Whether the query vector is neither computed nor cached at this moment.
  bool isAhead() const {
    // At the first generated token, all rows of the prompt are computed.
    if (m_request.firstTokenAt >= 0 || m_request.outcome) return false;
    const trace::TokenPlace& query = m_model.choice.query;
    const std::int32_t size = std::max(1, m_input.state().pool().blockSize());
    const auto block = m_request.blocks.find({query.segment, query.local / size});
    if (block != m_request.blocks.end()) {
      const trace::BlockLookedUp* lookup = lookupEvent(*m_input.trace, block->second.lookup);
      const bool isFound = lookup != nullptr && lookup->outcome != trace::LookupOutcome::Miss &&
                           query.local % size < lookup->tokens;
      if (isFound) return false;
    }
    const std::size_t first = m_input.trace->startOf(m_request.run).value_or(0);
    for (std::size_t at = first; at < m_input.position; ++at) {
      const auto* batch = std::get_if<trace::BatchComputed>(&m_input.trace->event(at).payload);
      if (batch == nullptr) continue;
      for (const trace::BatchEntry& entry : batch->entries) {
        const bool isQuery = entry.request == m_model.choice.request && entry.segment == query.segment &&
                             entry.begin <= query.local && query.local < entry.begin + entry.count;
        if (isQuery) return false;
      }
    }
    return true;
  }

  QString nameOf(const trace::TokenPlace& place, std::size_t& hue) const {
    const trace::SegmentInfo& segment = m_request.segments[place.segment];
    const auto local = static_cast<std::size_t>(place.local);
    QString text;
    if (local < segment.texts.size()) {
      text = shownToken(segment.texts[local]);
    } else {
      const auto answer = generatedTokens(*m_input.trace, m_model.choice.request, m_input.position);
      const std::size_t index = local - segment.tokens.size();
      if (local >= segment.tokens.size() && index < answer.size())
        text = shownToken(answer[index].token->shown);
    }
    const auto part = m_parts.parts.partAt(place.segment, place.local);
    if (part) hue = m_parts.names[*part].hue;
    const bool isAnswer = local >= segment.tokens.size();
    const QString name = isAnswer ? tr("the answer") : part ? m_parts.names[*part].name : QString();
    return tr("“%1” of %2").arg(text, name);
  }

  void fill(const RotationOptions& options, const run::PairVectors& vectors) {
    m_model.isComputed = true;
    m_model.layers = static_cast<std::int32_t>(vectors.layers.size());
    m_model.layer = std::clamp(options.layer, 0, m_model.layers - 1);
    const run::LayerRotation& layer = vectors.layers[static_cast<std::size_t>(m_model.layer)];
    m_model.heads = layer.shape.queryHeads;
    m_model.head = std::clamp(options.head, 0, m_model.heads - 1);
    m_model.weight = double(vectors.weight(m_model.layer, m_model.head));
    const auto turned = [&](std::int64_t query, std::int64_t key) {
      return run::rotatedPairs(vectors.query(m_model.layer, m_model.head),
                               vectors.key(m_model.layer, m_model.head), layer, query, key);
    };
    const std::int64_t queryRotation = m_model.queryPosition - m_model.base;
    m_model.pairs = turned(queryRotation, m_model.keyLocal);
    const auto most = std::max_element(m_model.pairs.begin(), m_model.pairs.end(),
                                       [](const run::RotatedPair& a, const run::RotatedPair& b) {
                                         return std::abs(a.score) < std::abs(b.score);
                                       });
    m_model.pair = std::min(options.pair.value_or(static_cast<std::size_t>(most - m_model.pairs.begin())),
                            m_model.pairs.size() - 1);
    const auto add = [&](const QString& title, const QString& what, std::int64_t query, std::int64_t key) {
      const std::vector<run::RotatedPair> pairs = turned(query, key);
      m_model.places.push_back({.title = title,
                                .what = what,
                                .queryRotation = query,
                                .keyRotation = key,
                                .score = run::scoreOf(pairs),
                                .shown = pairs[m_model.pair]});
    };
    add(tr("as stored"),
        tr("key rotated by its position in the segment, query vector by its distance to the segment start"),
        queryRotation, m_model.keyLocal);
    add(tr("start %1").arg(m_model.base), tr("both rotated by their positions in this run"),
        m_model.queryPosition, m_model.base + m_model.keyLocal);
    const std::int64_t other = otherBase();
    // The user can move the segment by the length of the prompt beyond its place.
    m_model.lastStart = std::max(other, m_model.base + m_model.queryPosition);
    m_model.start = std::clamp<std::int64_t>(options.start.value_or(other), 0, m_model.lastStart);
    const std::int64_t moved = m_model.start - m_model.base;
    add(tr("start %1").arg(m_model.start), tr("the same pair, moved by %1 positions").arg(moved),
        m_model.queryPosition + moved, m_model.start + m_model.keyLocal);
  }

  /// The start position at which the key's block was stored, or an invented one.
  std::int64_t otherBase() const {
    const std::int32_t size = std::max(1, m_input.state().pool().blockSize());
    const auto block = m_request.blocks.find({m_model.choice.key.segment, m_model.choice.key.local / size});
    if (block != m_request.blocks.end()) {
      const trace::BlockLookedUp* lookup = lookupEvent(*m_input.trace, block->second.lookup);
      if (lookup != nullptr && lookup->tokens > 0 && lookup->storedBase != m_model.base)
        return lookup->storedBase;
    }
    return m_model.base + kMoved;
  }

  const ViewInput& m_input;
  const trace::RequestState& m_request;
  RequestParts m_parts;
  RotationModel m_model;
};

}  // namespace

RotationModel rotationModel(const ViewInput& input, const RotationOptions& options) {
  const RequestId id = input.shownRequest();
  const auto& requests = input.state().progress().requests;
  const auto found = requests.find(id);
  if (found == requests.end() || found->second.segments.empty()) return {};
  return TurnMaker(input, id, found->second).make(options);
}

double degreesOf(double frequency, std::int64_t positions) {
  const double turns = frequency * static_cast<double>(positions) / (2 * std::numbers::pi);
  return 360 * (turns - std::floor(turns));
}

bool isRotationDrawn(const RotationModel& model) {
  return model.isComputed && !model.isAhead;
}

QString rotationSentence(const RotationModel& model) {
  if (model.choice.request == 0) return {};
  if (model.isAhead)
    return tr(/*id:rotation-to-come*/
              "The query vector is not computed yet at this moment. Move forward to see the vector. The "
              "vector will be rotated by %1, its distance to the start position %2 of the key's segment. "
              "The stored key is rotated by %3, its position in the segment.")
        .arg(model.queryPosition - model.base)
        .arg(model.base)
        .arg(model.keyLocal);
  if (!model.isComputed)
    return tr(/*id:rotation-ahead*/
              "The stored key is rotated by %1, its position in the segment. The query vector will be "
              "rotated by %2, its distance to the start position %3 of the segment. Two other drawings will "
              "rotate both vectors by their own positions, in this run and at another start position. "
              "Compute the rotation to see that the angle and the score stay the same.")
        .arg(model.keyLocal)
        .arg(model.queryPosition - model.base)
        .arg(model.base);
  if (!model.isComputed || model.places.size() < 3) return {};
  return tr("The stored key is rotated by %1, its position in the segment. The stored key never changes. The "
            "query vector is rotated by %2, its distance to the start position %3 of the segment. If both "
            "vectors are rotated by their own positions, the score is the same at starts %3 and %4. Only the "
            "distance of %5 between key and query vector counts. Score %6 · the key has %7 of the attention "
            "of this row.")
      .arg(model.keyLocal)
      .arg(model.places[0].queryRotation)
      .arg(model.base)
      .arg(model.places[2].keyRotation - model.keyLocal)
      .arg(model.places[0].queryRotation - model.keyLocal)
      .arg(model.places[0].score, 0, 'f', 4)
      .arg(tr("%1 %").arg(100 * model.weight, 0, 'f', 2));
}

QString rotationCsv(const RotationModel& model) {
  if (!model.isComputed) return {};
  QString csv =
      csvLine({QStringLiteral("layer"), QStringLiteral("head"), QStringLiteral("pair"),
               QStringLiteral("frequency rad per position"), QStringLiteral("turned"),
               QStringLiteral("key rotated by positions"), QStringLiteral("query rotated by positions"),
               QStringLiteral("key x"), QStringLiteral("key y"), QStringLiteral("query x"),
               QStringLiteral("query y"), QStringLiteral("score")});
  const auto row = [&](const QString& pair, const RotationWay& place, const run::RotatedPair* values,
                       double score) {
    const auto number = [values](double value) { return values == nullptr ? QString() : csvNumber(value); };
    const run::RotatedPair none;
    const run::RotatedPair& own = values == nullptr ? none : *values;
    return csvLine({QString::number(model.layer), QString::number(model.head), pair, number(own.frequency),
                    place.title, QString::number(place.keyRotation), QString::number(place.queryRotation),
                    number(own.rotatedKey.x), number(own.rotatedKey.y), number(own.rotatedQuery.x),
                    number(own.rotatedQuery.y), csvNumber(score)});
  };
  for (std::size_t i = 0; i < model.pairs.size(); ++i)
    csv += row(QString::number(i), model.places.front(), &model.pairs[i], model.pairs[i].score);
  for (const RotationWay& place : model.places)
    csv += row(QStringLiteral("all"), place, nullptr, place.score);
  return csv;
}

}  // namespace spanscope::ui
