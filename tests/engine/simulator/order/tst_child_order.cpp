// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the order of the children of plus: against all permutations, and on a workload with retrieved
// documents.
#include "engine/base/hash.h"
#include "engine/simulator/order/child_order.h"
#include "engine/simulator/servers.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::simulator;

namespace {

using Tokens = std::vector<TokenId>;

PromptPart text(Tokens tokens) {
  return {.kind = PartKind::Text, .tokens = std::move(tokens)};
}
PromptPart group(PartKind kind, std::vector<PromptPart> children) {
  return {.kind = kind, .children = std::move(children)};
}

/// Random numbers that depend only on the seed.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : m_seed(mixBits(seed)) {}
  std::size_t below(std::size_t most) { return mixBits(m_seed + ++m_count) % most; }

 private:
  std::uint64_t m_seed;
  std::uint64_t m_count = 0;
};

/// Documents with few different tokens, so that documents often begin alike.
Tokens document(std::size_t number) {
  Numbers numbers(number + 77);
  Tokens tokens;
  for (std::size_t i = 0; i < 1 + number % 5; ++i) tokens.push_back(static_cast<TokenId>(numbers.below(3)));
  return tokens;
}

std::vector<const Tokens*> textsOf(const PromptPart& part) {
  std::vector<const Tokens*> all;
  if (part.kind == PartKind::Text) all.push_back(&part.tokens);
  for (const PromptPart& child : part.children) {
    const auto own = textsOf(child);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

Tokens tokensOf(const PromptPart& part, const std::vector<std::size_t>& order) {
  const auto texts = textsOf(part);
  Tokens tokens;
  for (const std::size_t index : order)
    tokens.insert(tokens.end(), texts[index]->begin(), texts[index]->end());
  return tokens;
}

/// All orders that the prompt allows.
std::vector<std::vector<std::size_t>> allOrders(const PromptPart& part, std::size_t& number) {
  if (part.kind == PartKind::Text) return {{number++}};
  std::vector<std::vector<std::vector<std::size_t>>> ofChildren;
  for (const PromptPart& child : part.children) ofChildren.push_back(allOrders(child, number));
  std::vector<std::size_t> places(part.children.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::vector<std::vector<std::size_t>> all;
  do {
    std::vector<std::vector<std::size_t>> orders{{}};
    for (const std::size_t place : places) {
      std::vector<std::vector<std::size_t>> longer;
      for (const auto& order : orders) {
        for (const auto& own : ofChildren[place]) {
          longer.push_back(order);
          longer.back().insert(longer.back().end(), own.begin(), own.end());
        }
      }
      orders = std::move(longer);
    }
    all.insert(all.end(), orders.begin(), orders.end());
  } while (part.kind == PartKind::Free && std::next_permutation(places.begin(), places.end()));
  return all;
}

/// A cache with whole prompts, in blocks.
class Cache {
 public:
  explicit Cache(std::int64_t block) : m_block(block) {}
  void add(Tokens tokens) { m_prompts.push_back(std::move(tokens)); }
  CachedTokens function() const {
    return [this](std::span<const TokenId> beginning) {
      std::int64_t most = 0;
      for (const Tokens& prompt : m_prompts) {
        const auto end = std::mismatch(prompt.begin(), prompt.end(), beginning.begin(), beginning.end());
        most = std::max<std::int64_t>(most, end.first - prompt.begin());
      }
      return most / m_block * m_block;
    };
  }

 private:
  std::int64_t m_block;
  std::vector<Tokens> m_prompts;
};

/// A random prompt whose free parts have at most `left` children together.
PromptPart randomPrompt(Numbers& numbers, std::size_t& left, int depth) {
  if (depth == 0 || numbers.below(4) == 0) return text(document(numbers.below(12)));
  const bool isFree = numbers.below(2) == 0 && left > 1;
  const std::size_t count = isFree ? 1 + numbers.below(left) : numbers.below(4);
  if (isFree) left -= count;
  std::vector<PromptPart> children;
  for (std::size_t i = 0; i < count; ++i) children.push_back(randomPrompt(numbers, left, depth - 1));
  return group(isFree ? PartKind::Free : PartKind::Series, std::move(children));
}

std::int64_t mostOf(const PromptPart& prompt, const CachedTokens& cached) {
  std::size_t number = 0;
  std::int64_t most = 0;
  for (const auto& order : allOrders(prompt, number)) {
    const Tokens tokens = tokensOf(prompt, order);
    if (!tokens.empty()) most = std::max(most, cached(std::span(tokens).first(tokens.size() - 1)));
  }
  return most;
}

bool isAllowed(const PromptPart& prompt, const std::vector<std::size_t>& order) {
  std::size_t number = 0;
  const auto all = allOrders(prompt, number);
  return std::ranges::find(all, order) != all.end();
}

/// A prompt with a system text, documents in any order, and a question.
PromptPart retrieval(const std::vector<PromptPart>& documents, const Tokens& question) {
  return group(PartKind::Series, {text(Tokens(40, 7)), group(PartKind::Free, documents), text(question)});
}

Tokens longDocument(std::size_t number, std::size_t length) {
  Tokens tokens(length);
  for (std::size_t i = 0; i < length; ++i)
    tokens[i] = static_cast<TokenId>(1000 + mixBits(mixBits(number) + i) % 30000);
  // Documents begin alike, as titles do.
  std::fill_n(tokens.begin(), 5, 11);
  return tokens;
}

/// Numbers of documents by Zipf's law, each once.
std::vector<std::size_t> zipf(Numbers& numbers, std::size_t count, std::size_t all) {
  static const std::vector<double> sums = [all] {
    std::vector<double> made;
    double sum = 0;
    for (std::size_t rank = 1; rank <= all; ++rank) made.push_back(sum += 1.0 / static_cast<double>(rank));
    return made;
  }();
  std::vector<std::size_t> chosen;
  while (chosen.size() < count) {
    const double point = static_cast<double>(numbers.below(1U << 30U)) / (1U << 30U) * sums.back();
    const auto number = static_cast<std::size_t>(std::ranges::lower_bound(sums, point) - sums.begin());
    if (std::ranges::find(chosen, number) == chosen.end()) chosen.push_back(number);
  }
  return chosen;
}

/// The processor time of this program. Other programs do not change it.
double processorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Totals {
  std::int64_t tokens = 0;
  std::int64_t cached = 0;
  std::int64_t predicted = 0;
};

enum class Sending { Written, Ordered, Batch };

/// Sends 300 requests with 4 to 10 of 200 documents to a simulator. A batch is known in advance.
Totals sent(const Server& server, std::int64_t room, Sending sending) {
  const std::unique_ptr<Simulator> simulator =
      server.open({.cacheTokens = room, .blockSize = 16, .slots = 0, .chunk = 0});
  Numbers numbers(5);
  std::vector<PromptPart> prompts;
  for (TokenId request = 0; request < 300; ++request) {
    std::vector<PromptPart> documents;
    for (const std::size_t number : zipf(numbers, 4 + numbers.below(7), 200))
      documents.push_back(text(longDocument(number, 60 + number % 41)));
    prompts.push_back(retrieval(documents, Tokens(20, request)));
  }
  PartCounts counts;
  SendingPlan plan;
  std::vector<std::size_t> requests(prompts.size());
  std::iota(requests.begin(), requests.end(), std::size_t{0});
  if (sending == Sending::Batch) {
    for (const PromptPart& prompt : prompts) counts.add(prompt);
    plan = planSending(prompts);
    requests = plan.order;
  }
  Totals totals;
  for (const std::size_t request : requests) {
    const PromptPart& prompt = prompts[request];
    std::vector<std::size_t> order(prompt.children[1].children.size() + 2);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (sending != Sending::Written) {
      if (sending == Sending::Ordered) counts.add(prompt);
      OrderRules rules{.block = simulator->shape().blockSize, .step = 16};
      if (sending == Sending::Batch) {
        rules.first = plan.first[request];
        rules.kept = plan.kept[request];
      }
      const ChosenOrder chosen = chooseOrder(prompt, simulator->cachedBeginnings(), counts, rules);
      order = chosen.texts;
      totals.predicted += chosen.cached;
    }
    const Tokens tokens = tokensOf(prompt, order);
    totals.tokens += static_cast<std::int64_t>(tokens.size());
    totals.cached += simulator->serve({.prompt = tokens, .answer = Tokens(8, -1), .salt = {}}).cached;
  }
  return totals;
}

}  // namespace

class TestChildOrder : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void exactLikeAllPermutations_data() {
    QTest::addColumn<int>("block");
    QTest::newRow("tokens") << 1;
    QTest::newRow("blocks of 4") << 4;
  }
  void exactLikeAllPermutations() {
    QFETCH(int, block);
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
      Numbers numbers(seed);
      std::size_t left = 7;
      const PromptPart prompt = randomPrompt(numbers, left, 3);
      std::size_t number = 0;
      const auto orders = allOrders(prompt, number);
      if (orders.size() > 3000) continue;
      Cache cache(block);
      for (int i = 0; i < 6; ++i) {
        Tokens tokens = tokensOf(prompt, orders[numbers.below(orders.size())]);
        tokens.resize(numbers.below(tokens.size() + 1));
        tokens.push_back(2);
        cache.add(tokens);
      }
      const CachedTokens cached = cache.function();
      PartCounts counts;
      counts.add(prompt);
      const ChosenOrder chosen = chooseOrder(prompt, cached, counts, {.block = block});
      QVERIFY2(isAllowed(prompt, chosen.texts), std::to_string(seed).c_str());
      QVERIFY(chosen.isExact);
      QCOMPARE(chosen.cached, mostOf(prompt, cached));
      QCOMPARE(chosen.most, chosen.cached);
      std::vector<std::size_t> written(number);
      std::iota(written.begin(), written.end(), std::size_t{0});
      const Tokens tokens = tokensOf(prompt, written);
      QCOMPARE(chosen.tokens, std::int64_t(tokens.size()));
      if (!tokens.empty()) QCOMPARE(chosen.asWritten, cached(std::span(tokens).first(tokens.size() - 1)));
      const ChosenOrder again = chooseOrder(prompt, cached, counts, {.block = block});
      QCOMPARE(again.texts, chosen.texts);
      // The greedy search keeps its bounds.
      for (const std::size_t tries : {1, 5, 2000}) {
        const ChosenOrder greedy =
            chooseOrder(prompt, cached, counts, {.block = block, .exactChildren = 0, .mostTries = tries});
        QVERIFY(isAllowed(prompt, greedy.texts));
        QVERIFY(greedy.cached >= greedy.asWritten);
        QVERIFY(greedy.cached <= chosen.cached);
        QVERIFY(greedy.most >= chosen.cached);
        if (greedy.isExact) QCOMPARE(greedy.cached, chosen.cached);
      }
    }
  }

  void crossKeepsItsOrder() {
    const PromptPart prompt = group(PartKind::Series, {text({2}), text({1}), text({3})});
    Cache cache(1);
    cache.add({1, 2, 3});
    const ChosenOrder chosen = chooseOrder(prompt, cache.function(), {}, {});
    QCOMPARE(chosen.texts, (std::vector<std::size_t>{0, 1, 2}));
    QCOMPARE(chosen.cached, 0);
    QVERIFY(!chosen.isMoved());
  }

  void nestedPlusMovesInside() {
    // plus(cross(1, plus(2, 3)), 4), after the prompt 4 1 3 2.
    const PromptPart inner = group(PartKind::Free, {text({2}), text({3})});
    const PromptPart prompt =
        group(PartKind::Series,
              {group(PartKind::Free, {group(PartKind::Series, {text({1}), inner}), text({4})}), text({9})});
    Cache cache(1);
    cache.add({4, 1, 3, 2});
    const ChosenOrder chosen = chooseOrder(prompt, cache.function(), {}, {});
    QCOMPARE(chosen.texts, (std::vector<std::size_t>{3, 0, 2, 1, 4}));
    QCOMPARE(chosen.cached, 4);
    QCOMPARE(chosen.asWritten, 0);
  }

  void emptyOneAndEqualChildren() {
    Cache cache(1);
    cache.add({5, 5, 6});
    const CachedTokens cached = cache.function();
    const ChosenOrder none = chooseOrder(group(PartKind::Free, {}), cached, {}, {});
    QVERIFY(none.texts.empty());
    QCOMPARE(none.tokens, 0);
    const ChosenOrder one = chooseOrder(group(PartKind::Free, {text({5})}), cached, {}, {});
    QCOMPARE(one.texts, (std::vector<std::size_t>{0}));
    const ChosenOrder equal =
        chooseOrder(group(PartKind::Free, {text({6}), text({5}), text({5})}), cached, {}, {});
    QCOMPARE(equal.texts, (std::vector<std::size_t>{1, 2, 0}));
    QCOMPARE(equal.cached, 2);
    // Twelve equal children are one choice, not 12!.
    const ChosenOrder many =
        chooseOrder(group(PartKind::Free, std::vector<PromptPart>(12, text({5}))), cached, {}, {});
    QCOMPARE(many.texts.size(), std::size_t{12});
    QVERIFY(many.isExact);
  }

  /// Equal sets of children have equal prompts, and frequent children come first.
  void stableOrderWithoutHits() {
    const Cache cache(1);
    std::vector<PromptPart> documents;
    for (TokenId i = 0; i < 6; ++i) documents.push_back(text({i, i}));
    PartCounts counts;
    const auto promptOf = [&] { return retrieval(documents, {1}); };
    const ChosenOrder first = chooseOrder(promptOf(), cache.function(), counts, {});
    const Tokens tokens = tokensOf(promptOf(), first.texts);
    std::ranges::reverse(documents);
    QCOMPARE(tokensOf(promptOf(), chooseOrder(promptOf(), cache.function(), counts, {}).texts), tokens);
    counts.add(group(PartKind::Free, {text({4, 4})}));
    const Tokens later = tokensOf(promptOf(), chooseOrder(promptOf(), cache.function(), counts, {}).texts);
    QCOMPARE(later.at(40), 4);
  }

  /// A hit of a few tokens does not change the order.
  void shortHitsDoNotCount() {
    Cache cache(1);
    cache.add({8, 8, 1});
    PartCounts counts;
    const PromptPart rare = text({8, 8, 2});
    const PromptPart frequent = text({9, 9, 2});
    counts.add(group(PartKind::Free, {frequent}));
    const PromptPart prompt = group(PartKind::Free, {rare, frequent});
    QCOMPARE(chooseOrder(prompt, cache.function(), counts, {.step = 16}).texts,
             (std::vector<std::size_t>{1, 0}));
    QCOMPARE(chooseOrder(prompt, cache.function(), counts, {.step = 1}).texts,
             (std::vector<std::size_t>{0, 1}));
  }

  /// The common beginning has one token less than a step. Only the difference of hits counts.
  void shortHitsDoNotCountAfterABeginning() {
    Cache cache(1);
    Tokens before(15, 7);
    Tokens sent = before;
    sent.insert(sent.end(), {8, 8, 1});
    cache.add(sent);
    PartCounts counts;
    const PromptPart frequent = text({9, 9, 2});
    counts.add(group(PartKind::Free, {frequent}));
    const PromptPart prompt =
        group(PartKind::Series, {text(before), group(PartKind::Free, {text({8, 8, 2}), frequent})});
    const std::vector<std::size_t> wanted{0, 2, 1};
    QCOMPARE(chooseOrder(prompt, cache.function(), counts, {.step = 16}).texts, wanted);
    QCOMPARE(chooseOrder(prompt, cache.function(), counts, {.step = 16, .exactChildren = 0}).texts, wanted);
  }

  /// A judge of all drafts, and two judges of parts of them. All have draft 1, but most is saved if the judge
  /// of all begins with the larger part.
  void aLargePartIsNotDivided() {
    const auto prompt = [](const std::vector<TokenId>& drafts) {
      PromptPart free{.kind = PartKind::Free};
      for (const TokenId draft : drafts) free.children.push_back(text(Tokens(draft > 4 ? 11 : 10, draft)));
      return free;
    };
    const std::vector<PromptPart> prompts{prompt({1, 2, 3, 4, 5, 6}), prompt({1, 2, 3, 4}), prompt({1, 5})};
    const SendingPlan plan = planSending(prompts);
    const auto contentsOf = [](const std::vector<TokenId>& drafts) {
      std::vector<std::uint64_t> contents;
      for (const TokenId draft : drafts) contents.push_back(contentOf(text(Tokens(10, draft))));
      return contents;
    };
    for (const std::size_t i : {0, 1}) {
      std::vector<std::uint64_t> first = plan.first[i];
      QVERIFY(first.size() >= 4);
      first.resize(4);
      QCOMPARE(first.front(), contentsOf({1}).front());
      std::ranges::sort(first);
      std::vector<std::uint64_t> wanted = contentsOf({1, 2, 3, 4});
      std::ranges::sort(wanted);
      QCOMPARE(first, wanted);
    }
    QCOMPARE(plan.first[2], contentsOf({1}));
  }

  /// A later prompt with some of the children then probably finds more tokens.
  void longChildrenComeFirst() {
    const PromptPart prompt =
        group(PartKind::Free, {text(Tokens(10, 1)), text(Tokens(40, 2)), text(Tokens(20, 3))});
    PartCounts counts;
    const CachedTokens nothing = [](std::span<const TokenId>) { return std::int64_t{0}; };
    QCOMPARE(chooseOrder(prompt, nothing, counts, {}).texts, (std::vector<std::size_t>{1, 2, 0}));
    // Three earlier prompts with the first child count more than its length.
    for (int i = 0; i < 3; ++i) counts.add(group(PartKind::Free, {text(Tokens(10, 1)), text(Tokens(5, 9))}));
    QCOMPARE(chooseOrder(prompt, nothing, counts, {}).texts, (std::vector<std::size_t>{0, 1, 2}));
  }

  /// Judges of a group read eight, six and four of the same drafts, of any lengths.
  void nestedPromptsShareTheirBeginnings() {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Numbers numbers(seed);
      std::vector<PromptPart> prompts;
      std::vector<std::vector<std::uint64_t>> shared;  // by prompt: the four drafts of its group
      for (TokenId judges = 0; judges < 5; ++judges) {
        std::vector<PromptPart> drafts;
        for (TokenId draft = 0; draft < 8; ++draft)
          drafts.push_back(text(Tokens(30 + numbers.below(80), 1 + 8 * judges + draft)));
        std::vector<std::uint64_t> four;
        for (std::size_t i = 0; i < 4; ++i) four.push_back(contentOf(drafts[i]));
        std::ranges::sort(four);
        for (const std::size_t count : {8, 6, 4}) {
          std::vector<PromptPart> read(drafts.begin(), drafts.begin() + static_cast<std::ptrdiff_t>(count));
          for (std::size_t i = read.size(); i > 1; --i) std::swap(read[i - 1], read[numbers.below(i)]);
          prompts.push_back(group(PartKind::Free, std::move(read)));
          shared.push_back(four);
        }
      }
      const SendingPlan plan = planSending(prompts);
      for (std::size_t place = 0; place < plan.order.size(); ++place) {
        const std::size_t prompt = plan.order[place];
        QCOMPARE(plan.order[place / 3 * 3] / 3, prompt / 3);  // the judges of a group follow each other
        std::vector<std::uint64_t> first = plan.first[prompt];
        QVERIFY(first.size() >= 4);
        first.resize(4);
        std::ranges::sort(first);
        QCOMPARE(first, shared[prompt]);
        QCOMPARE(plan.kept[prompt] >= 4, place % 3 != 2);
      }
    }
  }

  /// A chance hit of few tokens must not cost the next prompt its beginning.
  void keptChildrenStayFirst() {
    const PromptPart prompt =
        group(PartKind::Free, {text(Tokens(20, 7)), text(Tokens(40, 1)), text(Tokens(40, 2))});
    const CachedTokens cached = [](std::span<const TokenId> beginning) {
      return std::int64_t{!beginning.empty() && beginning.front() == 7 ? 16 : 0};
    };
    const std::vector<std::uint64_t> first{contentOf(prompt.children[1]), contentOf(prompt.children[2])};
    OrderRules rules{.block = 16, .step = 16, .first = first};
    QCOMPARE(chooseOrder(prompt, cached, {}, rules).texts.front(), std::size_t{0});
    rules.kept = 2;
    const ChosenOrder kept = chooseOrder(prompt, cached, {}, rules);
    QCOMPARE(kept.texts, (std::vector<std::size_t>{1, 2, 0}));
    QCOMPARE(kept.cached, std::int64_t{0});
  }

  void requestsWithOneBeginningFollowEachOther() {
    const auto prompt = [](TokenId one, TokenId two) {
      return group(PartKind::Series, {text({0}), group(PartKind::Free, {text({one}), text({two})})});
    };
    const std::vector<PromptPart> prompts{prompt(1, 2), prompt(5, 6), prompt(7, 1), prompt(6, 8),
                                          prompt(2, 1)};
    const SendingPlan plan = planSending(prompts);
    std::vector<std::size_t> order = plan.order;
    const auto placeOf = [&order](std::size_t index) {
      return std::ranges::find(order, index) - order.begin();
    };
    QCOMPARE(std::abs(placeOf(0) - placeOf(4)), 1);  // equal prompts
    QCOMPARE(std::abs(placeOf(1) - placeOf(3)), 1);  // both begin with document 6
    std::ranges::sort(order);
    QCOMPARE(order, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
  }

  /// Prompts without a plus follow each other by their common tokens, also if their texts divide differently.
  void promptsWithoutAPlusAreGrouped() {
    const std::vector<PromptPart> prompts{group(PartKind::Series, {text({5, 5}), text({1})}),
                                          group(PartKind::Series, {text({7, 7}), text({1})}), text({5, 5, 2}),
                                          group(PartKind::Series, {text({7, 7}), text({2})}),
                                          group(PartKind::Series, {text({5}), text({5, 3})})};
    QCOMPARE(planSending(prompts).order, (std::vector<std::size_t>{0, 2, 4, 1, 3}));
  }

  /// The function of beginnings gives what the simulator then finds.
  void beginningsAreWhatIsServed() {
    for (const Server* server : servers()) {
      const auto simulator = server->open({.cacheTokens = 4096, .blockSize = 16, .slots = 1, .chunk = 0});
      Numbers numbers(3);
      for (int i = 0; i < 60; ++i) {
        Tokens prompt;
        for (std::size_t part = 0; part < 1 + numbers.below(4); ++part) {
          const Tokens own = longDocument(numbers.below(5), 90);
          prompt.insert(prompt.end(), own.begin(), own.end());
        }
        const CachedTokens cached = simulator->cachedBeginnings();
        static_cast<void>(cached(longDocument(numbers.below(5), 90)));
        const std::int64_t expected = cached(std::span(prompt).first(prompt.size() - 1));
        const Answer answer = simulator->serve({.prompt = prompt, .answer = Tokens(3, -1), .salt = {}});
        // llama-server may choose another slot for a short hit.
        if (server == &kLlamaCpp)
          QVERIFY(expected >= answer.cached);
        else
          QCOMPARE(std::int64_t(answer.cached), expected);
      }
    }
  }

  void retrievalReusesTwiceTheTokens_data() {
    QTest::addColumn<QString>("server");
    QTest::addColumn<int>("room");
    QTest::newRow("vLLM, all kept") << "vllm" << 0;
    QTest::newRow("vLLM, evictions") << "vllm" << 32768;
    QTest::newRow("SGLang, evictions") << "sglang" << 32768;
  }
  void retrievalReusesTwiceTheTokens() {
    QFETCH(QString, server);
    QFETCH(int, room);
    const Server& kind = *findServer(server.toStdString());
    const Totals written = sent(kind, room, Sending::Written);
    const Totals ordered = sent(kind, room, Sending::Ordered);
    const Totals batch = sent(kind, room, Sending::Batch);
    qInfo("%s: as written %lld, ordered %lld, as a batch %lld of %lld tokens", qPrintable(server),
          static_cast<long long>(written.cached), static_cast<long long>(ordered.cached),
          static_cast<long long>(batch.cached), static_cast<long long>(ordered.tokens));
    QCOMPARE(ordered.predicted, ordered.cached);
    QVERIFY(ordered.cached >= 2 * written.cached);
    QVERIFY(batch.cached >= ordered.cached);
  }

  /// 20 documents against a million cached tokens.
  void isFast() {
    for (const Server* server : {&kVllm, &kSglang, &kLlamaCpp}) {
      const auto simulator = server->open({.cacheTokens = 0, .blockSize = 0, .slots = 0, .chunk = 0});
      Numbers numbers(9);
      PartCounts counts;
      const auto promptOf = [&](std::size_t count, TokenId question) {
        std::vector<PromptPart> documents;
        for (const std::size_t number : zipf(numbers, count, 200))
          documents.push_back(text(longDocument(number, 100)));
        return retrieval(documents, Tokens(20, question));
      };
      for (TokenId request = 0; request < 500; ++request) {
        const PromptPart prompt = promptOf(20, request);
        counts.add(prompt);
        std::vector<std::size_t> order(22);
        std::iota(order.begin(), order.end(), std::size_t{0});
        simulator->serve({.prompt = tokensOf(prompt, order), .answer = {}, .salt = {}});
      }
      std::vector<double> times;
      for (TokenId request = 0; request < 20; ++request) {
        const PromptPart prompt = promptOf(20, 1000 + request);
        const double begin = processorSeconds();
        const ChosenOrder chosen = chooseOrder(prompt, simulator->cachedBeginnings(), counts,
                                               {.block = simulator->shape().blockSize, .step = 16});
        times.push_back((processorSeconds() - begin) * 1e3);
        QVERIFY(chosen.cached >= chosen.asWritten);
      }
      std::ranges::sort(times);
      qInfo("%s: median %.2f ms, most %.2f ms", server->name, times[times.size() / 2], times.back());
    }
  }
};

SPANSCOPE_TEST(tst_child_order, TestChildOrder)
#include "tst_child_order.moc"
