// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/content_trie.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <random>
#include <vector>

using namespace spanscope;
using namespace spanscope::cache;

namespace {

using Tokens = std::vector<TokenId>;

trace::BlockKey collidingKey(std::span<const std::uint8_t>) {
  return {7, 7};
}

std::int32_t commonPrefix(const Tokens& a, const Tokens& b) {
  std::int32_t common = 0;
  while (common < static_cast<std::int32_t>(std::min(a.size(), b.size())) &&
         a[static_cast<std::size_t>(common)] == b[static_cast<std::size_t>(common)]) {
    ++common;
  }
  return common;
}

std::string hex(const trace::BlockKey& key) {
  char text[40];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(key.high),
                static_cast<unsigned long long>(key.low));
  return text;
}

}  // namespace

Q_DECLARE_METATYPE(std::vector<spanscope::TokenId>)
Q_DECLARE_METATYPE(spanscope::cache::KeyHash)

class TestContentTrie : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void identity_data() {
    QTest::addColumn<KeyHash>("hash");
    QTest::newRow("xxh3") << &xxh3Key;
    QTest::newRow("every key collides") << &collidingKey;
  }

  void identity() {
    QFETCH(KeyHash, hash);
    ContentTrie trie("model", hash);
    const NodeRef root = trie.root("", {});
    QCOMPARE(trie.root("", {}).id(), root.id());
    const NodeRef salted = trie.root("tenant", {});
    QVERIFY(salted.id() != root.id());

    const NodeRef a = trie.child(root.id(), Tokens{1, 2, 3});
    QCOMPARE(trie.child(root.id(), Tokens{1, 2, 3}).id(), a.id());
    const NodeRef prefix = trie.child(root.id(), Tokens{1, 2});
    const NodeRef other = trie.child(root.id(), Tokens{1, 2, 4});
    const NodeRef elsewhere = trie.child(salted.id(), Tokens{1, 2, 3});
    const NodeRef below = trie.child(a.id(), Tokens{1, 2, 3});
    const std::vector<NodeId> ids{root.id(),  salted.id(),    a.id(),    prefix.id(),
                                  other.id(), elsewhere.id(), below.id()};
    QCOMPARE(std::set<NodeId>(ids.begin(), ids.end()).size(), ids.size());

    const NodeRef seesA = trie.root("", {{a.id(), 3, 0}});
    const NodeRef seesOther = trie.root("", {{other.id(), 3, 0}});
    const NodeRef seesFurther = trie.root("", {{a.id(), 4, 0}});
    const NodeRef seesLess = trie.root("", {{a.id(), 3, 1}});
    const NodeRef seesBoth = trie.root("", {{a.id(), 6, 0}, {other.id(), 3, 0}});
    const NodeRef seesSwapped = trie.root("", {{other.id(), 6, 0}, {a.id(), 3, 0}});
    const std::vector<NodeId> roots{root.id(),     seesA.id(),    seesOther.id(),  seesFurther.id(),
                                    seesLess.id(), seesBoth.id(), seesSwapped.id()};
    QCOMPARE(std::set<NodeId>(roots.begin(), roots.end()).size(), roots.size());
    QCOMPARE(trie.root("", {{a.id(), 3, 0}}).id(), seesA.id());
    QVERIFY(trie.isPlainRoot(root.id()));
    QVERIFY(!trie.isPlainRoot(seesA.id()));
    QVERIFY(!trie.isPlainRoot(a.id()));

    QCOMPARE(trie.key(a.id()) == trie.key(other.id()), hash == &collidingKey);
    QCOMPARE(trie.parent(below.id()), a.id());
    QCOMPARE(trie.parent(root.id()), kNoNode);
  }

  void keysAreTheSameEverywhere() {
    ContentTrie trie("model", &xxh3Key);
    const NodeRef root = trie.root("tenant", {});
    const NodeRef block = trie.child(root.id(), Tokens{1, -2, 0x7fffffff});
    const NodeRef seer = trie.root("tenant", {{block.id(), -5, 2}});
    const NodeRef tail = trie.child(seer.id(), Tokens{9});
    QCOMPARE(hex(trie.key(root.id())), std::string("1ed449de28c353c9c109b0ad2fb63cf0"));
    QCOMPARE(hex(trie.key(block.id())), std::string("5c0680c21295b08a19da9ecc48ab2cef"));
    QCOMPARE(hex(trie.key(seer.id())), std::string("9a96577091a2b8152c680ef86cf36d9c"));
    QCOMPARE(hex(trie.key(tail.id())), std::string("8668e8c84a099d85f0d1e235b7d6274f"));
  }

  void keysDependOnEverything() {
    const SeenKey seen{{1, 2}, 16, 0};
    const SeenKey further{{1, 2}, 17, 0};
    const SeenKey less{{1, 2}, 16, 1};
    std::set<std::string> keys;
    keys.insert(hex(rootKey(&xxh3Key, "m", "s", {})));
    keys.insert(hex(rootKey(&xxh3Key, "ms", "", {})));
    keys.insert(hex(rootKey(&xxh3Key, "", "ms", {})));
    for (const SeenKey& entry : {seen, further, less}) {
      keys.insert(hex(rootKey(&xxh3Key, "m", "s", std::vector{entry})));
    }
    keys.insert(hex(rootKey(&xxh3Key, "m", "s", std::vector{seen, further})));
    keys.insert(hex(rootKey(&xxh3Key, "m", "s", std::vector{further, seen})));
    keys.insert(hex(blockKey(&xxh3Key, {1, 2}, Tokens{1})));
    keys.insert(hex(blockKey(&xxh3Key, {1, 2}, Tokens{1, 0})));
    keys.insert(hex(blockKey(&xxh3Key, {2, 1}, Tokens{1})));
    QCOMPARE(keys.size(), std::size_t{11});
  }

  void nodesLiveAsLongAsTheyAreNeeded() {
    ContentTrie trie("", &xxh3Key);
    {
      NodeRef tail;
      {
        const NodeRef root = trie.root("", {});
        const NodeRef head = trie.child(root.id(), Tokens{1, 2});
        tail = trie.child(head.id(), Tokens{3});
        QCOMPARE(trie.size(), std::size_t{3});
        const NodeRef unused = trie.child(head.id(), Tokens{4});
        QCOMPARE(trie.size(), std::size_t{4});
      }
      QCOMPARE(trie.size(), std::size_t{3});
      NodeRef seer = trie.root("", {{tail.id(), 3, 0}, {tail.id(), 6, 0}});
      NodeRef question = trie.child(seer.id(), Tokens{5});
      seer = NodeRef();
      tail = NodeRef();
      QCOMPARE(trie.size(), std::size_t{5});
      const NodeRef copy = question;
      question = NodeRef();
      QCOMPARE(trie.size(), std::size_t{5});
    }
    QCOMPARE(trie.size(), std::size_t{0});
  }

  void longChainsAreFreed() {
    ContentTrie trie("", &xxh3Key);
    NodeRef end = trie.root("", {});
    for (TokenId token = 0; token < 300000; ++token) end = trie.child(end.id(), std::span(&token, 1));
    QCOMPARE(trie.size(), std::size_t{300001});
    end = NodeRef();
    QCOMPARE(trie.size(), std::size_t{0});
  }

  void nearest_data() {
    QTest::addColumn<Tokens>("wanted");
    QTest::addColumn<int>("common");
    QTest::addColumn<Tokens>("found");
    QTest::newRow("equal") << Tokens{1, 2, 3, 4} << 4 << Tokens{1, 2, 3, 4};
    QTest::newRow("equal comes before longer") << Tokens{1, 2} << 2 << Tokens{1, 2};
    QTest::newRow("within a longer one") << Tokens{1, 2, 3} << 3 << Tokens{1, 2, 3, 4};
    QTest::newRow("differs late") << Tokens{1, 2, 3, 9} << 3 << Tokens{1, 2, 3, 4};
    QTest::newRow("neighbour before is nearer") << Tokens{5, 5, 6} << 2 << Tokens{5, 5, 5};
    QTest::newRow("neighbour after is nearer") << Tokens{5, 9, 0} << 2 << Tokens{5, 9, 9};
    QTest::newRow("longer than all") << Tokens{5, 5, 5, 5} << 3 << Tokens{5, 5, 5};
    QTest::newRow("nothing in common") << Tokens{8} << 0 << Tokens{};
    QTest::newRow("without a block is not found") << Tokens{7, 7} << 0 << Tokens{};
  }

  void nearest() {
    QFETCH(Tokens, wanted);
    QFETCH(int, common);
    QFETCH(Tokens, found);
    ContentTrie trie("", &xxh3Key);
    const NodeRef root = trie.root("", {});
    std::vector<NodeRef> nodes;
    QVERIFY(!trie.nearest(root.id(), wanted));
    for (const Tokens& tokens : {Tokens{1, 2, 3, 4}, {1, 2}, {5, 5, 5}, {5, 9, 9}, {6}}) {
      nodes.push_back(trie.child(root.id(), tokens));
      trie.attach(nodes.back().id(), static_cast<BlockId>(nodes.size()));
    }
    nodes.push_back(trie.child(root.id(), Tokens{7, 7, 7}));
    const auto result = trie.nearest(root.id(), wanted);
    QVERIFY(result);
    QCOMPARE(result->common, common);
    if (common > 0) {
      const auto tokens = trie.tokens(result->node);
      QCOMPARE(Tokens(tokens.begin(), tokens.end()), found);
    }
  }

  void nearestOfMany() {
    const char* given = std::getenv("SPANSCOPE_TEST_SEED");
    const auto seed = given ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : 20240817U;
    qInfo("SPANSCOPE_TEST_SEED=%u", seed);
    std::mt19937 random(seed);
    const auto tokens = [&random] {
      Tokens result(1 + random() % 6);
      for (TokenId& token : result) token = static_cast<TokenId>(random() % 3);
      return result;
    };
    ContentTrie trie("", &xxh3Key);
    const NodeRef root = trie.root("", {});
    std::map<Tokens, NodeRef> stored;
    for (int round = 0; round < 3000; ++round) {
      const Tokens chosen = tokens();
      const auto known = stored.find(chosen);
      if (known == stored.end()) {
        const NodeRef node = trie.child(root.id(), chosen);
        trie.attach(node.id(), 1);
        stored.emplace(chosen, node);
      } else if (random() % 2 == 0) {
        trie.detach(known->second.id(), 1);
        stored.erase(known);
      }
      const Tokens wanted = tokens();
      std::int32_t best = 0;
      for (const auto& [candidate, node] : stored) best = std::max(best, commonPrefix(candidate, wanted));
      const auto result = trie.nearest(root.id(), wanted);
      QCOMPARE(result.has_value(), !stored.empty());
      if (result) QCOMPARE(result->common, best);
    }
    for (const auto& [candidate, node] : stored) trie.detach(node.id(), 1);
  }

  void severalBlocksOfOneContent() {
    ContentTrie trie("", &xxh3Key);
    const NodeRef root = trie.root("", {});
    const NodeRef node = trie.child(root.id(), Tokens{1});
    trie.attach(node.id(), 4);
    trie.attach(node.id(), 2);
    QCOMPARE(trie.blocks(node.id()), (std::vector<BlockId>{4, 2}));
    trie.detach(node.id(), 4);
    QCOMPARE(trie.nearest(root.id(), Tokens{1})->common, 1);
    QVERIFY_EXCEPTION_THROWN(trie.detach(node.id(), 4), std::logic_error);
    trie.detach(node.id(), 2);
    QVERIFY(!trie.nearest(root.id(), Tokens{1}));
  }

  void continuations() {
    ContentTrie trie("", &xxh3Key);
    const NodeRef root = trie.root("", {});
    const NodeRef wanted = trie.child(root.id(), Tokens{1, 2});
    const NodeRef longer = trie.child(root.id(), Tokens{1, 2, 3});
    const NodeRef other = trie.child(root.id(), Tokens{1, 3});
    const NodeRef shorter = trie.child(root.id(), Tokens{1});
    QVERIFY(trie.continuations(wanted.id()).empty());
    trie.attach(shorter.id(), 1);
    trie.attach(other.id(), 2);
    QVERIFY(trie.continuations(wanted.id()).empty());
    trie.addPending(longer.id(), 7);
    QCOMPARE(trie.continuations(wanted.id()), (std::vector<NodeId>{longer.id()}));
    trie.attach(longer.id(), 3);
    trie.attach(wanted.id(), 4);
    QCOMPARE(trie.continuations(wanted.id()), (std::vector<NodeId>{wanted.id(), longer.id()}));
  }

  void otherContext() {
    ContentTrie trie("", &xxh3Key);
    const NodeRef plain = trie.root("", {});
    const NodeRef a = trie.child(plain.id(), Tokens{1});
    const NodeRef b = trie.child(plain.id(), Tokens{2});
    const NodeRef c = trie.child(plain.id(), Tokens{3});
    const NodeRef seesAB = trie.root("", {{a.id(), 2, 0}, {b.id(), 1, 0}});
    const NodeRef seesAC = trie.root("", {{a.id(), 2, 0}, {c.id(), 1, 0}});
    const NodeRef seesCB = trie.root("", {{c.id(), 2, 0}, {b.id(), 1, 0}});
    const NodeRef salted = trie.root("tenant", {});
    const NodeRef underAB = trie.child(seesAB.id(), Tokens{7, 8, 9});
    const NodeRef underCB = trie.child(seesCB.id(), Tokens{7, 8});
    QVERIFY(!trie.otherContext(seesAC.id(), Tokens{7, 8}));
    trie.attach(underCB.id(), 1);
    QCOMPARE(trie.otherContext(seesAC.id(), Tokens{7, 8})->node, underCB.id());
    QCOMPARE(trie.otherContext(seesAC.id(), Tokens{7, 8})->differsAt, 0);
    trie.attach(underAB.id(), 2);
    QCOMPARE(trie.otherContext(seesAC.id(), Tokens{7, 8})->node, underAB.id());
    QCOMPARE(trie.otherContext(seesAC.id(), Tokens{7, 8})->differsAt, 1);
    QCOMPARE(trie.otherContext(plain.id(), Tokens{7, 8})->differsAt, 0);
    QVERIFY(!trie.otherContext(seesAC.id(), Tokens{7, 9}));
    QVERIFY(!trie.otherContext(salted.id(), Tokens{7, 8}));
    trie.detach(underAB.id(), 2);
    trie.detach(underCB.id(), 1);
    QVERIFY(!trie.otherContext(seesAC.id(), Tokens{7, 8}));
  }
};

SPANSCOPE_TEST(tst_content_trie, TestContentTrie)
#include "tst_content_trie.moc"
