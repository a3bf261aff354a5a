// SPDX-License-Identifier: GPL-3.0-or-later
// Common prefixes and repeats, compared with a search that tries every place.
#include "engine/doctor/alignment.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <random>
#include <vector>

using namespace spanscope;
using namespace spanscope::doctor;

namespace {

using Tokens = std::vector<TokenId>;

std::size_t commonPrefix(const Tokens& one, const Tokens& other) {
  const std::size_t size = std::min(one.size(), other.size());
  std::size_t at = 0;
  while (at < size && one[at] == other[at]) ++at;
  return at;
}

/// Which tokens of a prompt are in a run of at least `least` tokens that an earlier request has.
std::vector<bool> coveredByHand(const std::vector<Tokens>& earlier, const Tokens& prompt, std::size_t least) {
  std::vector<bool> covered(prompt.size());
  for (const Tokens& other : earlier) {
    for (std::size_t i = 0; i + least <= prompt.size(); ++i) {
      for (std::size_t j = 0; j + least <= other.size(); ++j) {
        if (!std::equal(prompt.begin() + static_cast<std::ptrdiff_t>(i),
                        prompt.begin() + static_cast<std::ptrdiff_t>(i + least),
                        other.begin() + static_cast<std::ptrdiff_t>(j)))
          continue;
        for (std::size_t k = i; k < i + least; ++k) covered[k] = true;
      }
    }
  }
  return covered;
}

/// Random requests that share prefixes and pieces.
std::vector<Tokens> randomRequests(std::mt19937& random, std::size_t count, int words) {
  const auto pick = [&](std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most)(random);
  };
  std::vector<Tokens> requests;
  for (std::size_t i = 0; i < count; ++i) {
    Tokens made;
    if (!requests.empty() && pick(2) > 0) {
      const Tokens& other = requests[pick(requests.size() - 1)];
      made.assign(other.begin(), other.begin() + static_cast<std::ptrdiff_t>(pick(other.size())));
    }
    for (std::size_t piece = 0; piece < 1 + pick(4); ++piece) {
      if (!requests.empty() && pick(1) > 0) {
        const Tokens& other = requests[pick(requests.size() - 1)];
        const std::size_t begin = pick(other.size() - 1);
        const std::size_t size = pick(std::min<std::size_t>(other.size() - begin, 60));
        made.insert(made.end(), other.begin() + static_cast<std::ptrdiff_t>(begin),
                    other.begin() + static_cast<std::ptrdiff_t>(begin + size));
      } else {
        const std::size_t size = 1 + pick(30);
        for (std::size_t k = 0; k < size; ++k)
          made.push_back(std::uniform_int_distribution<int>(0, words)(random));
      }
    }
    if (made.empty()) made.push_back(1);
    requests.push_back(std::move(made));
  }
  return requests;
}

}  // namespace

class TestAlignment : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// Prefixes are exact, and every token in a long enough repeat is found.
  void equalsSearchByHand() {
    const auto seed = std::random_device{}();
    qInfo("seed %u", seed);
    std::mt19937 random(seed);
    for (int round = 0; round < 60; ++round) {
      const std::size_t least = 2 + random() % 15;
      const auto requests = randomRequests(random, 14, round % 2 == 0 ? 1000 : 40);
      Alignment alignment(least);
      std::vector<Tokens> earlier;
      for (const Tokens& tokens : requests) {
        const std::size_t prompt = 1 + random() % tokens.size();
        const auto previous = static_cast<std::uint32_t>(earlier.empty() ? 0 : random() % earlier.size());
        const auto found =
            alignment.add({.tokens = tokens,
                           .prompt = prompt,
                           .previous = earlier.empty() ? std::nullopt : std::optional(previous)});
        const Tokens asked(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(prompt));
        std::size_t common = 0;
        for (const Tokens& other : earlier) common = std::max(common, commonPrefix(asked, other));
        QCOMPARE(found.common, common);
        if (common > 0) QCOMPARE(commonPrefix(asked, earlier[*found.best]), common);
        if (!earlier.empty()) QCOMPARE(found.withPrevious, commonPrefix(asked, earlier[previous]));
        std::vector<bool> covered(prompt);
        for (const Repeat& repeat : found.repeats) {
          QVERIFY(repeat.count >= least);
          for (std::size_t i = 0; i < repeat.count; ++i) {
            QCOMPARE(earlier[repeat.request][repeat.at + i], asked[repeat.begin + i]);
            covered[repeat.begin + i] = true;
          }
        }
        const auto expected = coveredByHand(earlier, asked, least);
        for (std::size_t i = common; i < prompt; ++i) QCOMPARE(bool(covered[i]), bool(expected[i]));
        earlier.push_back(tokens);
        QCOMPARE(alignment.tokensOf(static_cast<std::uint32_t>(earlier.size() - 1)), tokens);
      }
    }
  }

  /// Requests of another model or salt share nothing.
  void realmsAreSeparate() {
    Alignment alignment(4);
    const Tokens tokens{1, 2, 3, 4, 5};
    alignment.add({.realm = 1, .tokens = tokens, .prompt = 5});
    const auto other = alignment.add({.realm = 2, .tokens = tokens, .prompt = 5, .previous = 0});
    QCOMPARE(other.common, std::size_t{0});
    QCOMPARE(other.withPrevious, std::size_t{0});
    QCOMPARE(alignment.add({.realm = 1, .tokens = tokens, .prompt = 5}).common, std::size_t{5});
  }

  /// A prefix counts as alive if any request used it since the given time.
  void usesKeepPrefixesAlive() {
    Alignment alignment(4);
    const Tokens first{1, 2, 3, 4};
    const Tokens second{1, 2, 9, 9};
    alignment.add({.tokens = first, .prompt = 4, .time = 0});
    alignment.add({.tokens = second, .prompt = 4, .time = 50});
    const auto found = alignment.add({.tokens = first, .prompt = 4, .time = 100, .oldest = 40});
    QCOMPARE(found.common, std::size_t{4});
    QCOMPARE(found.alive, std::size_t{2});
  }

  /// Planted repeats of 64 tokens in 1000 requests.
  void findsPlantedRepeats() {
    std::mt19937 random(57);
    Alignment alignment(64);
    std::vector<Tokens> requests;
    int planted = 0;
    int hits = 0;
    for (int i = 0; i < 1000; ++i) {
      Tokens tokens;
      for (int k = 0; k < 300; ++k) tokens.push_back(static_cast<TokenId>(random() % 50000));
      if (i > 0) {
        const Tokens& source = requests[random() % requests.size()];
        const std::size_t from = random() % (source.size() - 64);
        const std::size_t to = random() % (tokens.size() - 64);
        std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(from), 64,
                    tokens.begin() + static_cast<std::ptrdiff_t>(to));
        ++planted;
        const auto found = alignment.add({.tokens = tokens, .prompt = tokens.size()});
        hits += std::ranges::any_of(found.repeats, [&](const Repeat& repeat) {
          return repeat.begin <= to && repeat.begin + repeat.count >= to + 64;
        });
      } else {
        alignment.add({.tokens = tokens, .prompt = tokens.size()});
      }
      requests.push_back(std::move(tokens));
    }
    QCOMPARE(hits, planted);
  }
};

SPANSCOPE_TEST(tst_alignment, TestAlignment)
#include "tst_alignment.moc"
