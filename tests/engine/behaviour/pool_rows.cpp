// SPDX-License-Identifier: GPL-3.0-or-later
// Rows about blocks without their contents, the free list, and contents without their cache.
#include "engine/cache/block_pool.h"
#include "engine/cache/content_trie.h"
#include "tests/engine/behaviour/table_row.h"

namespace spanscope::behaviour {

using namespace spanscope::cache;
using test::Blocks;

namespace {

template <class Act>
void isMisuse(Act act, const char* what) {
  try {
    act();
  } catch (const std::logic_error&) {
    return;
  }
  throw std::runtime_error(std::string(what) + " is misuse");
}

void references() {
  BlockPool pool(3);
  same(pool.references(1), 0, "references at first");
  same(pool.take(), BlockId{1}, "the block");
  same(pool.share(1), 2, "one more");
  same(pool.release(1, FreeEnd::Back), 1, "one fewer");
  same(pool.release(1, FreeEnd::Back), 0, "none");
  isMisuse([&pool] { pool.release(1, FreeEnd::Back); }, "giving back what nobody has");
}

/// A block has one content at a time; the same content again is none more.
void contentOfABlock() {
  ContentTrie trie("model", xxh3Key);
  const NodeRef root = trie.root("", {});
  const std::vector<TokenId> tokens{1, 2, 3};
  const NodeRef node = trie.child(root.id(), tokens);
  trie.attach(node.id(), 1);
  same(trie.blocks(node.id()), Blocks{1}, "the content's block");
  require(trie.child(root.id(), tokens).id() == node.id(), "equal content is one");
  trie.detach(node.id(), 1);
  same(trie.blocks(node.id()), Blocks{}, "none after");
  isMisuse([&] { trie.detach(node.id(), 1); }, "taking away what it does not hold");
}

void freeList() {
  BlockPool pool(6);
  same(pool.take(), BlockId{1}, "the front");
  same(pool.freeCount(), std::int64_t{4}, "free");
  pool.share(3);
  same(pool.freeOrder(), Blocks{2, 4, 5}, "its neighbours are joined");
  pool.release(3, FreeEnd::Back);
  same(pool.freeCount(), std::int64_t{4}, "free");
  while (pool.freeCount() > 0) pool.take();
  same(pool.front(), kNullBlock, "the ends of the list are joined");
  isMisuse([&pool] { pool.take(); }, "taking from an empty list");
}

void severalAtOnce() {
  for (BlockId count = 0; count <= 3; ++count) {
    BlockPool back(6);
    BlockPool front(6);
    for (BlockId block = 1; block <= 5; ++block) {
      back.take();
      front.take();
    }
    back.release(5, FreeEnd::Back);
    front.release(5, FreeEnd::Back);
    Blocks appended{5};
    Blocks prepended{5};
    for (BlockId block = 1; block <= count; ++block) {
      back.release(block, FreeEnd::Back);
      front.release(block, FreeEnd::Front);
      appended.push_back(block);
      prepended.insert(prepended.begin(), block);
    }
    same(back.freeOrder(), appended, "appended");
    same(front.freeOrder(), prepended, "prepended");
    for (const BlockId block : appended) same(back.take(), block, "taken in that order");
  }
}

void evictionOrder() {
  BlockPool pool(6);
  pool.take();
  pool.take();
  pool.share(4);
  pool.release(2, FreeEnd::Back);
  pool.release(4, FreeEnd::Front);
  const Blocks order = pool.freeOrder();
  same(order, Blocks{4, 3, 5, 2}, "the order of the list");
  for (const BlockId block : order) same(pool.take(), block, "what is taken next");
}

void blocksOfOneContent() {
  ContentTrie trie("model", xxh3Key);
  const NodeRef root = trie.root("", {});
  const NodeRef node = trie.child(root.id(), std::vector<TokenId>{1, 2});
  const NodeRef other = trie.child(root.id(), std::vector<TokenId>{3, 4});
  trie.attach(node.id(), 7);
  trie.attach(node.id(), 5);
  trie.attach(other.id(), 6);
  isMisuse([&] { trie.detach(node.id(), 6); }, "taking away another content's block");
  same(trie.blocks(node.id()), Blocks{7, 5}, "nothing was taken away; the first one is found first");
  trie.detach(node.id(), 7);
  same(trie.blocks(node.id()), Blocks{5}, "the other one is left");
  require(trie.nearest(root.id(), std::vector<TokenId>{1, 2})->node == node.id(), "and found");
}

}  // namespace

TableRows poolRows() {
  return {{"A28 blocks of one content", blocksOfOneContent},
          {"B2 references of a block", references},
          {"B2 content of a block", contentOfABlock},
          {"B3 the free list", freeList},
          {"B4 several blocks given back at either end", severalAtOnce},
          {"B5 the free list is the order of eviction", evictionOrder}};
}

}  // namespace spanscope::behaviour
