// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/sources.h"

#include "engine/base/error.h"
#include "engine/plan/planner.h"
#include "engine/policy/policies.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "engine/trace/prompt_parts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <variant>

namespace spanscope::experiment {

namespace {

bool ranksOnTop(const std::vector<double>& values, const std::vector<std::int32_t>& needed) {
  if (needed.empty() || needed.back() >= static_cast<std::int32_t>(values.size())) return false;
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool isNeeded = std::ranges::find(needed, static_cast<std::int32_t>(i)) != needed.end();
    if (isNeeded) {
      least = std::min(least, values[i]);
    } else {
      most = std::max(most, values[i]);
    }
  }
  return least > most;
}

template <class Counts>
SourceCount countWhere(const std::vector<AskedQuestion>& asked, Counts counts) {
  SourceCount count;
  for (const AskedQuestion& question : asked) {
    if (!counts(question)) continue;
    ++(question.needed.size() == 1 ? count.one : count.two);
  }
  return count;
}

}  // namespace

std::uint64_t AnswerSink::send(RunId /*run*/, RequestId /*request*/, const NodePath& /*node*/,
                               trace::Payload payload) {
  if (auto* table = std::get_if<trace::SpanTableLaidOut>(&payload)) {
    m_answer = {.segments = table->segments, .rows = {}};
  } else if (auto* row = std::get_if<trace::SegmentAttention>(&payload)) {
    m_answer.rows.push_back(std::move(*row));
  }
  return ++m_sequence;
}

ReadAnswer AnswerSink::take() {
  return std::exchange(m_answer, {});
}

std::vector<AskedQuestion> askQuestions(run::Session& session, AnswerSink& sink, const SourceWorld& world,
                                        std::int32_t questions, std::int32_t layers,
                                        const std::stop_token& stop) {
  run::RunOptions options;
  options.policy = policy::kSpans;
  options.observedLayers.resize(static_cast<std::size_t>(layers));
  std::iota(options.observedLayers.begin(), options.observedLayers.end(), 0);
  std::vector<AskedQuestion> asked;
  for (std::int32_t index = 0; index < questions; ++index) {
    const SourceQuestion question = sourceQuestion(world, index);
    plan::PlanResult planned = plan::makePlan(sourceQuery(question), {});
    if (!planned.plan) throw Failure(std::move(planned.problems.front()));
    session.clearCache();
    const run::RunResult result = session.run(*planned.plan, options, stop);
    if (result.error) throw Failure(*result.error);
    if (result.outcome == trace::RunOutcome::Stopped || stop.stop_requested()) {
      throw Failure({.file = {}, .place = "the questions", .found = "The job was stopped.", .expected = {}});
    }
    asked.push_back(
        {.needed = question.needed, .isRight = result.answer == question.answer, .answer = sink.take()});
  }
  return asked;
}

SourceCount countAsked(const std::vector<AskedQuestion>& asked) {
  return countWhere(asked, [](const AskedQuestion&) { return true; });
}

SourceCount countRight(const std::vector<AskedQuestion>& asked) {
  return countWhere(asked, [](const AskedQuestion& question) { return question.isRight; });
}

SourceCount countFound(const std::vector<AskedQuestion>& asked, const Reading& read) {
  return countWhere(asked, [&read](const AskedQuestion& question) {
    return question.isRight && ranksOnTop(read(question.answer), question.needed);
  });
}

std::vector<Head> bestHeads(const std::vector<AskedQuestion>& asked, std::size_t most) {
  std::vector<Head> all;
  for (const AskedQuestion& question : asked) {
    if (question.answer.rows.empty()) continue;
    const trace::SegmentAttention& any = question.answer.rows.front();
    for (const std::int32_t layer : any.layers) {
      for (std::int32_t head = 0; head < any.heads; ++head) all.push_back({layer, head});
    }
    break;
  }
  std::vector<Head> chosen;
  std::int32_t found = -1;
  while (chosen.size() < most) {
    const std::vector<Head> before = chosen;
    for (const Head& head : all) {
      if (std::ranges::find(before, head) != before.end()) continue;
      std::vector<Head> tried = before;
      tried.push_back(head);
      const std::int32_t count = countFound(asked, headsMeasure(tried).read).both();
      if (count <= found) continue;
      found = count;
      chosen = std::move(tried);
    }
    if (chosen.size() == before.size()) break;
  }
  return chosen;
}

namespace {

/// One number per document for each row, layer and head of an answer.
class Weights {
 public:
  enum class Sinks { Kept, LeftOut };  ///< the first token of each document

  Weights(const ReadAnswer& answer, Sinks sinks) : m_documents(documentsOf(answer)) {
    for (const trace::SegmentAttention& row : answer.rows) {
      std::vector<std::vector<double>>& heads = m_rows.emplace_back();
      const std::size_t width = row.keySegments.size();
      for (std::size_t at = 0; at + width <= row.mass.size(); at += width) {
        std::vector<double>& documents = heads.emplace_back();
        for (std::size_t i = 0; i < width; ++i) {
          if (std::ranges::find(m_documents, row.keySegments[i]) == m_documents.end()) continue;
          const auto first = sinks == Sinks::LeftOut ? static_cast<double>(row.first[at + i]) : 0.0;
          documents.push_back(std::max(0.0, static_cast<double>(row.mass[at + i]) - first));
        }
      }
    }
  }

  std::size_t rows() const { return m_rows.size(); }
  std::size_t heads() const { return m_rows.empty() ? 0 : m_rows.front().size(); }  ///< of all layers
  std::size_t documents() const { return m_documents.size(); }
  double at(std::size_t row, std::size_t head, std::size_t document) const {
    return m_rows[row][head][document];
  }

  /// Returns the sum of each document over rows and heads. `change` is applied to each weight.
  template <class Change>
  std::vector<double> sum(Change change, std::size_t firstHead = 0) const {
    std::vector<double> sums(documents(), 0.0);
    for (std::size_t row = 0; row < rows(); ++row) {
      for (std::size_t head = firstHead; head < heads(); ++head) {
        for (std::size_t i = 0; i < documents(); ++i) sums[i] += change(m_rows[row][head], i);
      }
    }
    return sums;
  }

 private:
  std::vector<std::uint32_t> m_documents;
  std::vector<std::vector<std::vector<double>>> m_rows;  ///< [row][layer and head][document]
};

double itself(const std::vector<double>& documents, std::size_t i) {
  return documents[i];
}

std::vector<double> attention(const ReadAnswer& answer) {
  return Weights(answer, Weights::Sinks::Kept).sum(itself);
}

std::vector<double> withoutSinks(const ReadAnswer& answer) {
  return Weights(answer, Weights::Sinks::LeftOut).sum(itself);
}

std::vector<double> perToken(const ReadAnswer& answer) {
  std::vector<double> sums = withoutSinks(answer);
  const std::vector<std::uint32_t> documents = documentsOf(answer);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i] /= static_cast<double>(std::max<std::size_t>(answer.segments[documents[i]].tokens.size(), 2) - 1);
  }
  return sums;
}

std::vector<double> upperLayers(const ReadAnswer& answer) {
  const Weights weights(answer, Weights::Sinks::LeftOut);
  const std::size_t layers = answer.rows.empty() ? 0 : answer.rows.front().layers.size();
  const std::size_t headsOfLayer = layers == 0 ? 0 : weights.heads() / layers;
  return weights.sum(itself, layers / 2 * headsOfLayer);
}

std::vector<double> aboveTheMean(const ReadAnswer& answer) {
  return Weights(answer, Weights::Sinks::LeftOut)
      .sum([](const std::vector<double>& documents, std::size_t i) {
        double sum = 0;
        for (const double value : documents) sum += value;
        return std::max(0.0, documents[i] - sum / static_cast<double>(documents.size()));
      });
}

std::vector<double> firstToken(const ReadAnswer& answer) {
  ReadAnswer first{.segments = answer.segments, .rows = {}};
  if (!answer.rows.empty()) first.rows.push_back(answer.rows.front());
  return withoutSinks(first);
}

std::vector<double> moreThanAtFirst(const ReadAnswer& answer) {
  std::vector<double> sums = withoutSinks(answer);
  const std::vector<double> first = firstToken(answer);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] -= static_cast<double>(answer.rows.size()) * first[i];
  return sums;
}

std::vector<double> strongestHead(const ReadAnswer& answer) {
  const Weights weights(answer, Weights::Sinks::LeftOut);
  std::vector<double> most(weights.documents(), 0.0);
  for (std::size_t i = 0; i < most.size(); ++i) {
    for (std::size_t head = 0; head < weights.heads(); ++head) {
      double sum = 0;
      for (std::size_t row = 0; row < weights.rows(); ++row) sum += weights.at(row, head, i);
      most[i] = std::max(most[i], sum);
    }
  }
  return most;
}

/// Combines the weights of each document: of the heads at each token, then of the tokens.
template <class OfHeads, class OfTokens>
std::vector<double> combined(const ReadAnswer& answer, OfHeads ofHeads, OfTokens ofTokens) {
  const Weights weights(answer, Weights::Sinks::LeftOut);
  std::vector<double> all(weights.documents(), 0.0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t row = 0; row < weights.rows(); ++row) {
      double heads = 0;
      for (std::size_t head = 0; head < weights.heads(); ++head)
        heads = ofHeads(heads, weights.at(row, head, i));
      all[i] = ofTokens(all[i], heads);
    }
  }
  return all;
}

double larger(double a, double b) {
  return std::max(a, b);
}

std::vector<double> strongestHeadOfEachToken(const ReadAnswer& answer) {
  return combined(answer, larger, std::plus<>());
}

std::vector<double> strongestLook(const ReadAnswer& answer) {
  return combined(answer, larger, larger);
}

std::vector<double> strongestToken(const ReadAnswer& answer) {
  return combined(answer, std::plus<>(), larger);
}

std::vector<double> shownShares(const ReadAnswer& answer) {
  // In this table, each document is a segment.
  const trace::PromptParts parts(answer.segments, nullptr);
  std::vector<trace::PartAttention> joined;
  for (const trace::SegmentAttention& row : answer.rows) joined.push_back(trace::byPart(row, parts));
  std::vector<const trace::PartAttention*> rows;
  for (const trace::PartAttention& row : joined) rows.push_back(&row);
  const std::vector<double> shares = trace::sourceShares(parts, rows);
  std::vector<double> ofDocuments;
  for (const std::uint32_t document : documentsOf(answer)) ofDocuments.push_back(shares[document]);
  return ofDocuments;
}

}  // namespace

std::vector<std::uint32_t> documentsOf(const ReadAnswer& answer) {
  std::vector<std::uint32_t> documents;
  if (answer.rows.empty()) return documents;
  const std::vector<std::uint32_t>& seen = answer.rows.front().keySegments;
  std::copy_if(seen.begin(), seen.end() - (seen.empty() ? 0 : 1), std::back_inserter(documents),
               [&](std::uint32_t segment) { return answer.segments[segment].independent; });
  return documents;
}

std::vector<SourceMeasure> sourceMeasures() {
  return {
      {"squares", "sum of the squares of attention, without the first tokens of documents", shownShares},
      {"attention", "sum of attention", attention},
      {"without sinks", "sum of attention, without the first tokens of documents (as in all other measures)",
       withoutSinks},
      {"per token", "sum divided by the document's tokens", perToken},
      {"upper layers", "sum over the upper half of the layers", upperLayers},
      {"above the mean", "sum of each head's attention above its mean over the documents", aboveTheMean},
      {"strongest head", "max of one head's attention over all tokens", strongestHead},
      {"strongest heads", "sum of the max attention of a head at each token", strongestHeadOfEachToken},
      {"strongest token", "max attention of all heads at one token", strongestToken},
      {"strongest weight", "max attention of one head at one token", strongestLook},
      {"first token", "sum at only the first token of the answer", firstToken},
      {/*id:more-first*/ "above the first token",
       "sum of the attention above the attention of the first answer token", moreThanAtFirst},
  };
}

SourceMeasure headsMeasure(const std::vector<Head>& heads) {
  SourceMeasure measure{.name = "best heads", .formula = "sum over", .read = {}};
  for (const Head& head : heads) {
    measure.formula += (&head == heads.data() ? " layer " : ", layer ") + std::to_string(head.layer) +
                       " head " + std::to_string(head.head);
  }
  measure.read = [heads](const ReadAnswer& answer) {
    const Weights weights(answer, Weights::Sinks::LeftOut);
    std::vector<double> sums(weights.documents(), 0.0);
    if (answer.rows.empty()) return sums;
    const trace::SegmentAttention& any = answer.rows.front();
    for (const Head& head : heads) {
      const auto layer = std::ranges::find(any.layers, head.layer);
      if (layer == any.layers.end() || head.head >= any.heads) continue;
      const auto at =
          static_cast<std::size_t>(layer - any.layers.begin()) * static_cast<std::size_t>(any.heads) +
          static_cast<std::size_t>(head.head);
      for (std::size_t row = 0; row < weights.rows(); ++row) {
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += weights.at(row, at, i);
      }
    }
    return sums;
  };
  return measure;
}

namespace {

constexpr const char* kSystem = "Answer questions using the given documents.";

/// Names and words that the bundled model copies correctly. The cause of a wrong answer is then wrong
/// reading.
constexpr std::array kPeople = {"Mira", "Tarek",  "Nadia", "Otto",  "Priya", "Lena",   "Omar",
                                "Ivan", "Carlos", "Emma",  "Clara", "Liam",  "Felix",  "Hugo",
                                "Ines", "Kira",   "Leo",   "Maya",  "Nils",  "Rosa",   "Sven",
                                "Tina", "Uma",    "Vera",  "Zara",  "Sana",  "Victor", "Nina"};
static_assert(kPeople.size() == kMostSources);
constexpr std::array kPlaces = {"Lisbon", "Porto",  "Cairo", "Oslo",   "Paris",  "Rome",
                                "Berlin", "Madrid", "Tokyo", "Vienna", "Prague", "Dublin"};
constexpr std::array kMonths = {"January", "February", "March",     "April",   "May",      "June",
                                "July",    "August",   "September", "October", "November", "December"};
constexpr std::array kFirms = {"Initech", "Wonka", "Acme", "Globex"};
constexpr std::array kInstruments = {"cello", "piano", "violin", "guitar", "drums", "flute"};
constexpr std::array kRelations = {"sister", "brother", "friend", "boss"};
constexpr std::array kHay = {
    "The weather was mild that day.", "Two men carried a ladder.", "The stairs are steep.",
    "The market closes at noon.",     "The soup was cold.",        "The lamp gave little light.",
    "The garden needs water.",        "The train was late again."};

/// A kind of fact about a person, e.g. "… lives in Oslo."
struct Kind {
  const char* verb;
  const char* ask;  ///< the text before the name in a question
  const char* end;  ///< the text after the name
};
constexpr std::array kKinds = {
    Kind{" lives in ", "Where does ", " live?"}, Kind{" was born in ", "When was ", " born?"},
    Kind{" works at ", "Where does ", " work?"}, Kind{" plays the ", "What does ", " play?"}};

class Draw {
 public:
  Draw(const SourceWorld& world, std::int32_t index) {
    std::seed_seq seeds{static_cast<std::uint32_t>(world.seed), static_cast<std::uint32_t>(world.seed >> 32U),
                        static_cast<std::uint32_t>(world.documents), static_cast<std::uint32_t>(index)};
    m_random.seed(seeds);
  }

  /// Distributions of the standard library may give other numbers on other systems.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(m_random() % count); }

  template <class T, std::size_t N>
  std::string oneOf(const std::array<T, N>& words) {
    return words[below(N)];
  }

  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

  std::string valueOf(std::size_t kind) {
    switch (kind) {
      case 0:
        return oneOf(kPlaces);
      case 1:
        return oneOf(kMonths);
      case 2:
        return oneOf(kFirms);
      default:
        return oneOf(kInstruments);
    }
  }

 private:
  std::mt19937_64 m_random;
};

query::Node message(query::Role role, std::string text) {
  return {query::Message{.role = role, .text = std::move(text)}};
}

}  // namespace

SourceQuestion sourceQuestion(const SourceWorld& world, std::int32_t index) {
  Draw draw(world, index);
  const bool needsTwo = index % 2 == 1;
  std::vector<std::string> people(kPeople.begin(), kPeople.end());
  draw.shuffle(people);
  people.resize(static_cast<std::size_t>(world.documents));

  // The question asks for the first person. If two documents are needed, the question names the second
  // person.
  const std::size_t asked = draw.below(kKinds.size());
  struct Document {
    std::string text;
    bool isNeeded = false;
  };
  std::vector<Document> made;
  SourceQuestion question;
  for (std::size_t i = 0; i < people.size(); ++i) {
    const bool isRival = i > 1 && i < 2 + static_cast<std::size_t>(world.rivals);
    const bool tellsRelation = i == 1 ? needsTwo : isRival;
    const std::string hay = draw.oneOf(kHay);
    Document& document = made.emplace_back();
    if (tellsRelation) {
      // Only the needed document names an acquaintance of the first person.
      const std::string relation = draw.oneOf(kRelations);
      std::size_t other = 0;
      if (i > 1) {
        other = 2 + draw.below(people.size() - 3);
        if (other >= i) ++other;
      }
      document.text = "The " + relation + " of " + people[i] + " is " + people[other] + ". ";
      if (i == 1) question.question = "the " + relation + " of " + people[i];
    } else {
      const std::size_t kind = i == 0 ? asked : draw.below(kKinds.size());
      const std::string fact = people[i] + kKinds[kind].verb + draw.valueOf(kind) + ".";
      document.text = fact + " ";
      if (i == 0) question.answer = fact;
    }
    document.text += hay;
    document.isNeeded = i == 0 || (i == 1 && needsTwo);
  }
  if (!needsTwo) question.question = people[0];
  question.question = kKinds[asked].ask + question.question + kKinds[asked].end;

  draw.shuffle(made);
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (made[i].isNeeded) question.needed.push_back(static_cast<std::int32_t>(i));
    question.documents.push_back(std::move(made[i].text));
  }
  return question;
}

query::Node sourceQuery(const SourceQuestion& question) {
  constexpr std::int32_t kAnswer = 24;  // twice the longest right answer
  query::Join plus{.kind = query::JoinKind::Plus, .children = {}};
  for (const std::string& document : question.documents)
    plus.children.push_back(message(query::Role::User, document));
  query::Join cross{.kind = query::JoinKind::Cross, .children = {}};
  cross.children.push_back(message(query::Role::System, kSystem));
  cross.children.push_back({std::move(plus)});
  cross.children.push_back(message(query::Role::User, question.question));
  return {query::Generate{.settings = {.model = {}, .maxTokens = kAnswer, .temperature = 0.0F},
                          .input = query::Node{std::move(cross)}}};
}

}  // namespace spanscope::experiment
