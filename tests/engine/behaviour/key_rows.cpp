// SPDX-License-Identifier: GPL-3.0-or-later
// Rows about keys, and about what fits into a memory.
#include "engine/base/error.h"
#include "engine/cache/content_trie.h"
#include "engine/model/weights.h"
#include "engine/run/run_options.h"
#include "engine/workbench/model_bundle.h"
#include "tests/engine/behaviour/table_row.h"

namespace spanscope::behaviour {

using namespace spanscope::cache;
using namespace spanscope::cache::test;

namespace {

/// Keys of a prompt's blocks in their order, as the cache reports them.
std::vector<trace::BlockKey> keysOf(const CacheConfig& config, const RequestSpec& spec) {
  CacheDriver driver(config);
  driver.run(spec);
  std::vector<trace::BlockKey> keys;
  for (const trace::BlockStored& stored : driver.sink.all<trace::BlockStored>()) keys.push_back(stored.key);
  return keys;
}

/// There is no seed: a key is the same in every process, so that a store on disk is of use to all of them.
void rootIsAPureFunction() {
  const trace::BlockKey root = rootKey(&xxh3Key, "model", "", {});
  require(root == rootKey(&xxh3Key, "model", "", {}), "the same root again");
  require(!(root == trace::BlockKey{}), "it is not nothing");
  // Pinned: another value is another format of every store there is.
  require(root == trace::BlockKey{.high = 18265044009317674344U, .low = 10538350836509498153U},
          "the root of another process: " + std::to_string(root.high) + " " + std::to_string(root.low));
}

void saltOfTheFirstBlockReachesAll() {
  const RequestSpec plain = prompt(1, range(1, 40));
  const auto without = keysOf(withTails(11), plain);
  const auto with = keysOf(withTails(11), salted(plain, "tenant"));
  same(with.size(), without.size(), "blocks");
  for (std::size_t block = 0; block < with.size(); ++block)
    require(!(with[block] == without[block]), "no key is that of another salt");
  require(with[0] == blockKey(&xxh3Key, rootKey(&xxh3Key, "model", "tenant", {}), range(1, 16)),
          "the salt is in the root");
  require(with[1] == blockKey(&xxh3Key, with[0], range(17, 16)), "and in later blocks by their chain");
}

void adapterIsInTheFingerprint() {
  CacheConfig adapted = withTails(11);
  adapted.fingerprint = "model;adapter=a";
  const auto without = keysOf(withTails(11), prompt(1, range(1, 20)));
  const auto with = keysOf(adapted, prompt(1, range(1, 20)));
  for (std::size_t block = 0; block < with.size(); ++block)
    require(!(with[block] == without[block]), "another adapter, another key");
}

void hashOfParentAndTokens() {
  const trace::BlockKey parent{.high = 0x0102030405060708, .low = 0x1112131415161718};
  const std::vector<TokenId> tokens{5, 70000};
  const std::vector<std::uint8_t> expected{'b',  8,    7,    6,    5,    4,    3,    2, 1, 0x18,
                                           0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, 2, 0, 0,
                                           0,    5,    0,    0,    0,    0x70, 0x11, 1, 0};
  require(blockKey(&xxh3Key, parent, tokens) == xxh3Key(expected),
          "parent, number of tokens and tokens, and nothing else");
}

/// Two whole blocks of 3; the values at the root reach both.
void chainOfARequest() {
  const RequestSpec spec = prompt(1, range(1, 6));
  const auto keys = keysOf(wholeBlocks(11, 3), spec);
  same(keys.size(), std::size_t{2}, "keys");
  require(keys[1] == blockKey(&xxh3Key, keys[0], range(4, 3)), "a chain");
  const auto others = keysOf(wholeBlocks(11, 3), spans(1, {{90}}, range(1, 6)));
  require(!(others.back() == keys[1]) && !(others[others.size() - 2] == keys[0]),
          "what is seen first changes both");
}

/// A partial block and a whole block with equal tokens have one key: the key is independent of the block
/// size.
void tailsHaveTheKeysOfSmallerBlocks() {
  const auto coarse = keysOf(withTails(11, 16), prompt(1, range(1, 8)));
  const auto fine = keysOf(wholeBlocks(11, 8), prompt(1, range(1, 8)));
  same(coarse.size(), std::size_t{1}, "the tail");
  same(fine.size(), std::size_t{1}, "the block");
  require(coarse[0] == fine[0], "one key");
}

model::ModelConfig sevenBillion() {
  model::ModelConfig config = model::namedShape("llama-8b");
  config.layers = 32;
  config.keyValueHeads = 32;
  config.headSize = 128;
  return config;
}

/// 8 GiB of keys and values of 32 layers, 32 heads of 128 and 2 bytes hold 16384 tokens. One block of them is
/// the null block, which is never allocated.
void tokensThatFit() {
  run::SessionConfig session;
  session.kvType = compute::DType::BF16;
  session.blockCount = 1024;
  const model::WeightAmounts weights = model::weightAmounts(sevenBillion(), compute::WeightFormat::BF16);
  const workbench::MemoryNeed need = workbench::memoryNeed(sevenBillion(), weights, &session, {});
  same(need.pool(), std::uint64_t{8} << 30U, "bytes of the pool");
  compute::Device device{.name = "card", .description = {}, .memoryBytes = need.total(), .reason = {}};
  workbench::checkMemory(need, device);
  session.blockCount = 1025;
  const workbench::MemoryNeed larger = workbench::memoryNeed(sevenBillion(), weights, &session, {});
  try {
    workbench::checkMemory(larger, device);
  } catch (const Failure& failure) {
    require(std::string(failure.what()).find("pool of 1024 blocks would fit") != std::string::npos,
            failure.what());
    return;
  }
  throw std::runtime_error("a block more does not fit");
}

}  // namespace

TableRows keyRows() {
  return {{"B1 a root without seed is the same everywhere", rootIsAPureFunction},
          {"B7 a salt", saltOfTheFirstBlockReachesAll},
          {"B8 an adapter", adapterIsInTheFingerprint},
          {"B10 a key is a hash of parent and tokens", hashOfParentAndTokens},
          {"B11 keys of a request", chainOfARequest},
          {"B14 tokens that fit into a memory", tokensThatFit},
          {"D coarse and fine: a tail has the key of a block of that size", tailsHaveTheKeysOfSmallerBlocks}};
}

}  // namespace spanscope::behaviour
