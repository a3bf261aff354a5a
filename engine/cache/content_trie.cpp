// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/content_trie.h"

#include "engine/base/hash.h"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

namespace spanscope::cache {

namespace {

/// otherContext() only explains a miss, so it checks at most this many candidates.
constexpr int kContextCandidates = 32;

}  // namespace

std::int32_t commonPrefix(std::span<const TokenId> a, std::span<const TokenId> b) {
  const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::int32_t>(end.first - a.begin());
}

// ---- NodeRef
// ---------------------------------------------------------------------------------------------------

NodeRef::NodeRef(ContentTrie& trie, NodeId id) : m_trie(&trie), m_id(id) {
  trie.addHold(id);
}

NodeRef::NodeRef(const NodeRef& other) : m_trie(other.m_trie), m_id(other.m_id) {
  if (m_trie) m_trie->addHold(m_id);
}

NodeRef::NodeRef(NodeRef&& other) noexcept {
  swap(other);
}

NodeRef& NodeRef::operator=(const NodeRef& other) {
  NodeRef copy(other);
  swap(copy);
  return *this;
}

NodeRef& NodeRef::operator=(NodeRef&& other) noexcept {
  NodeRef taken(std::move(other));
  swap(taken);
  return *this;
}

NodeRef::~NodeRef() {
  if (m_trie) m_trie->dropHold(m_id);
}

void NodeRef::swap(NodeRef& other) noexcept {
  std::swap(m_trie, other.m_trie);
  std::swap(m_id, other.m_id);
}

// ---- ContentTrie
// -----------------------------------------------------------------------------------------------

bool ContentTrie::TokensLess::operator()(Tokens a, Tokens b) const {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

bool ContentTrie::FirstNodeLess::operator()(const FirstNode& a, const FirstNode& b) const {
  if (a.salt != b.salt) return a.salt < b.salt;
  const auto order = std::lexicographical_compare_three_way(a.tokens.begin(), a.tokens.end(),
                                                            b.tokens.begin(), b.tokens.end());
  return order != 0 ? order < 0 : a.node < b.node;
}

ContentTrie::ContentTrie(std::string fingerprint, KeyHash hash, const ContentNaming* naming)
    : m_fingerprint(std::move(fingerprint)), m_hash(hash), m_naming(naming) {}

void ContentTrie::assignNodes(const ContentTrie& other) {
  m_nodes.clear();
  m_nodes.resize(other.m_nodes.size());
  m_freeNodes = other.m_freeNodes;
  m_size = other.m_size;
  m_roots = other.m_roots;
  m_firstNodes.clear();
  for (std::size_t id = 0; id < m_nodes.size(); ++id) {
    const Node& from = other.m_nodes[id];
    Node& to = m_nodes[id];
    to.parent = from.parent;
    to.next = from.next;
    to.key = from.key;
    to.name = from.name;
    to.tokens = from.tokens;
    to.blocks = from.blocks;
  }
  for (const auto& [content, id] : m_roots) {
    m_nodes[id].root = &content;
    for (const SeenEnd& entry : content.seen) addHold(entry.end);
  }
  // The keys of these maps are views of tokens. The maps must be rebuilt for the nodes of this trie.
  for (std::size_t index = 0; index < m_nodes.size(); ++index) {
    const auto id = static_cast<NodeId>(index);
    const Node& node = m_nodes[id];
    if (node.parent == kNoNode) continue;  // a root or a free node
    addHold(node.parent);
    m_nodes[node.parent].children.emplace(node.tokens, id);
    if (node.blocks.empty()) continue;
    m_nodes[node.parent].stored.emplace(node.tokens, id);
    if (m_nodes[node.parent].root) m_firstNodes.insert(firstNode(id));
  }
}

NodeRef ContentTrie::root(const std::string& salt, const std::vector<SeenEnd>& seen, std::int64_t fixedBase) {
  RootContent content{salt, seen, fixedBase};
  const auto found = m_roots.find(content);
  if (found != m_roots.end()) return NodeRef(*this, found->second);

  std::vector<SeenKey> keys;
  keys.reserve(seen.size());
  for (const SeenEnd& entry : seen) keys.push_back({key(entry.end), entry.distance, entry.visibleBegin});
  const NodeId id = makeNode();
  const auto added = m_roots.emplace(std::move(content), id).first;
  m_nodes[id].root = &added->first;
  m_nodes[id].key = rootKey(m_hash, m_fingerprint, salt, keys, fixedBase);
  if (m_naming != nullptr) {
    std::vector<SeenName> names;
    names.reserve(seen.size());
    for (const SeenEnd& entry : seen) names.push_back({name(entry.end), entry.distance, entry.visibleBegin});
    m_nodes[id].name = m_naming->root(m_fingerprint, salt, names, fixedBase);
  }
  for (const SeenEnd& entry : seen) addHold(entry.end);
  return NodeRef(*this, id);
}

NodeRef ContentTrie::child(NodeId parent, std::span<const TokenId> tokens) {
  if (tokens.empty()) throw std::logic_error("a content node has at least one token");
  const Children& known = m_nodes[parent].children;
  const auto found = known.find(tokens);
  if (found != known.end()) return NodeRef(*this, found->second);

  const NodeId id = makeNode();
  Node& node = m_nodes[id];
  node.parent = parent;
  node.tokens.assign(tokens.begin(), tokens.end());
  node.key = blockKey(m_hash, m_nodes[parent].key, tokens);
  if (m_naming != nullptr) node.name = m_naming->block(m_nodes[parent].name, tokens);
  m_nodes[parent].children.emplace(node.tokens, id);
  addHold(parent);
  return NodeRef(*this, id);
}

NodeRef ContentTrie::hold(NodeId node) {
  return NodeRef(*this, node);
}

void ContentTrie::attach(NodeId node, BlockId block) {
  Node& entry = m_nodes[node];
  entry.blocks.push_back(block);
  if (entry.blocks.size() > 1) return;
  m_nodes[entry.parent].stored.emplace(entry.tokens, node);
  if (m_nodes[entry.parent].root) m_firstNodes.insert(firstNode(node));
}

void ContentTrie::detach(NodeId node, BlockId block) {
  Node& entry = m_nodes[node];
  const auto found = std::ranges::find(entry.blocks, block);
  if (found == entry.blocks.end()) throw std::logic_error("the block does not hold this content");
  entry.blocks.erase(found);
  if (!entry.blocks.empty()) return;
  m_nodes[entry.parent].stored.erase(entry.tokens);
  if (m_nodes[entry.parent].root) m_firstNodes.erase(firstNode(node));
}

std::optional<NearestNode> ContentTrie::nearest(NodeId parent, std::span<const TokenId> tokens) const {
  return nearestOf(m_nodes[parent].stored, tokens);
}

std::optional<NearestNode> ContentTrie::nearestPending(NodeId parent, std::span<const TokenId> tokens) const {
  return nearestOf(m_nodes[parent].awaited, tokens);
}

std::optional<NearestNode> ContentTrie::nearestOf(const Children& children, Tokens tokens) {
  // In lexicographic order, the most similar node is a direct neighbour of the place of `tokens`.
  if (children.empty()) return std::nullopt;
  NearestNode best;
  best.common = -1;
  const auto next = children.lower_bound(tokens);
  if (next != children.end()) best = {next->second, commonPrefix(next->first, tokens)};
  if (next != children.begin()) {
    const auto previous = std::prev(next);
    const std::int32_t common = commonPrefix(previous->first, tokens);
    if (common > best.common) best = {previous->second, common};
  }
  return best;
}

std::vector<NodeId> ContentTrie::continuations(NodeId node) const {
  std::vector<NodeId> found;
  const Tokens tokens = m_nodes[node].tokens;
  const Node& parent = m_nodes[m_nodes[node].parent];
  for (const Children* children : {&parent.stored, &parent.awaited}) {
    for (auto child = children->lower_bound(tokens); child != children->end(); ++child) {
      if (commonPrefix(child->first, tokens) != static_cast<std::int32_t>(tokens.size())) break;
      if (std::ranges::find(found, child->second) == found.end()) found.push_back(child->second);
    }
  }
  return found;
}

std::optional<OtherContext> ContentTrie::otherContext(NodeId root, std::span<const TokenId> tokens) const {
  const RootContent& wanted = *m_nodes[root].root;
  std::optional<OtherContext> best;
  auto entry = m_firstNodes.lower_bound(FirstNode{wanted.salt, tokens, 0});
  for (int count = 0; count < kContextCandidates && entry != m_firstNodes.end(); ++count, ++entry) {
    const std::size_t size = tokens.size();
    if (entry->salt != wanted.salt || entry->tokens.size() < size) break;
    if (commonPrefix(entry->tokens, tokens) != static_cast<std::int32_t>(size)) break;
    const NodeId otherRoot = m_nodes[entry->node].parent;
    if (otherRoot == root) continue;
    const std::vector<SeenEnd>& seen = m_nodes[otherRoot].root->seen;
    const auto difference =
        std::mismatch(wanted.seen.begin(), wanted.seen.end(), seen.begin(), seen.end()).first;
    const bool isSame = difference == wanted.seen.end() && seen.size() == wanted.seen.size();
    // A chain that differs only in its fixed start position is the nearest chain.
    if (isSame) return OtherContext{entry->node, -1};
    const auto differsAt = static_cast<std::int32_t>(difference - wanted.seen.begin());
    if (!best || differsAt > best->differsAt) best = OtherContext{entry->node, differsAt};
  }
  return best;
}

RequestId ContentTrie::pendingBy(NodeId node) const {
  const std::vector<RequestId>& pending = m_nodes[node].pending;
  return pending.empty() ? 0 : pending.front();
}

bool ContentTrie::isPendingBy(NodeId node, RequestId request) const {
  if (node >= m_nodes.size()) return false;
  const std::vector<RequestId>& pending = m_nodes[node].pending;
  return std::ranges::find(pending, request) != pending.end();
}

void ContentTrie::addPending(NodeId node, RequestId request) {
  Node& entry = m_nodes[node];
  if (entry.pending.empty()) m_nodes[entry.parent].awaited.emplace(entry.tokens, node);
  entry.pending.push_back(request);
}

void ContentTrie::dropPending(NodeId node, RequestId request) {
  Node& entry = m_nodes[node];
  if (std::erase(entry.pending, request) > 0 && entry.pending.empty()) {
    m_nodes[entry.parent].awaited.erase(entry.tokens);
  }
}

bool ContentTrie::isPlainRoot(NodeId node) const {
  return m_nodes[node].root && m_nodes[node].root->seen.empty();
}

NodeId ContentTrie::makeNode() {
  NodeId id = m_freeNodes;
  if (id == kNoNode) {
    id = static_cast<NodeId>(m_nodes.size());
    m_nodes.emplace_back();
  } else {
    m_freeNodes = m_nodes[id].next;
    m_nodes[id].next = kNoNode;
  }
  ++m_size;
  return id;
}

void ContentTrie::dropOne(NodeId node, NodeId& unheld) noexcept {
  Node& entry = m_nodes[node];
  if (--entry.holds > 0) return;
  entry.next = unheld;
  unheld = node;
}

void ContentTrie::dropHold(NodeId node) noexcept {
  // A chain can have thousands of nodes. The nodes that are freed with this node are therefore linked in a
  // list. The nodes are not freed recursively.
  NodeId unheld = kNoNode;
  dropOne(node, unheld);
  while (unheld != kNoNode) {
    const NodeId id = unheld;
    Node& entry = m_nodes[id];
    unheld = entry.next;
    if (entry.root) {
      for (const SeenEnd& seen : entry.root->seen) dropOne(seen.end, unheld);
      m_roots.erase(m_roots.find(*entry.root));
    } else {
      m_nodes[entry.parent].children.erase(entry.tokens);
      dropOne(entry.parent, unheld);
    }
    entry = Node{};
    entry.next = m_freeNodes;
    m_freeNodes = id;
    --m_size;
  }
}

ContentTrie::FirstNode ContentTrie::firstNode(NodeId node) const {
  const Node& entry = m_nodes[node];
  return {m_nodes[entry.parent].root->salt, entry.tokens, node};
}

namespace {

/// Collects the bytes to hash, in little-endian order on every machine. The length precedes every value of
/// variable size. Different contents therefore never give the same bytes.
class Bytes {
 public:
  explicit Bytes(std::uint8_t kind, std::size_t expectedSize) {
    m_bytes.reserve(expectedSize);
    m_bytes.push_back(kind);
  }

  void number(std::uint64_t value, int bytes) {
    for (int index = 0; index < bytes; ++index) {
      m_bytes.push_back(static_cast<std::uint8_t>(value >> (8 * index)));
    }
  }
  void key(const trace::BlockKey& key) {
    number(key.high, 8);
    number(key.low, 8);
  }
  void text(std::string_view text) {
    number(text.size(), 8);
    for (const char character : text) m_bytes.push_back(static_cast<std::uint8_t>(character));
  }

  std::span<const std::uint8_t> all() const { return m_bytes; }

 private:
  std::vector<std::uint8_t> m_bytes;
};

constexpr std::uint8_t kRootKind = 'r';
constexpr std::uint8_t kBlockKind = 'b';

}  // namespace

trace::BlockKey xxh3Key(std::span<const std::uint8_t> bytes) {
  const Hash128 hash = hash128(bytes);
  return {hash.high, hash.low};
}

trace::BlockKey rootKey(KeyHash hash, std::string_view fingerprint, std::string_view salt,
                        std::span<const SeenKey> seen, std::int64_t fixedBase) {
  Bytes bytes(kRootKind, 32 + fingerprint.size() + salt.size() + 28 * seen.size());
  bytes.text(fingerprint);
  bytes.text(salt);
  bytes.number(seen.size(), 8);
  for (const SeenKey& entry : seen) {
    bytes.key(entry.end);
    bytes.number(static_cast<std::uint64_t>(entry.distance), 8);
    bytes.number(static_cast<std::uint32_t>(entry.visibleBegin), 4);
  }
  if (fixedBase != 0) bytes.number(static_cast<std::uint64_t>(fixedBase), 8);
  return hash(bytes.all());
}

trace::BlockKey blockKey(KeyHash hash, const trace::BlockKey& parent, std::span<const TokenId> tokens) {
  Bytes bytes(kBlockKind, 32 + 4 * tokens.size());
  bytes.key(parent);
  bytes.number(tokens.size(), 4);
  for (const TokenId token : tokens) bytes.number(static_cast<std::uint32_t>(token), 4);
  return hash(bytes.all());
}

}  // namespace spanscope::cache
