// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/store/pack_file.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/cache/pool_limits.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace spanscope::cache {
namespace {

constexpr std::string_view kMagic = "SPANPACK";
constexpr std::size_t kFixedBytes = 64;
constexpr std::size_t kEntryBytes = 104;
constexpr std::size_t kChecksumBytes = 16;
constexpr std::uint64_t kAlignment = 64;
constexpr std::uint32_t kMostTextBytes = 1 << 16;
constexpr const char* kCut = "a file that was cut while it was read";

std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

class Writer {
 public:
  template <class T>
  void number(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
      bytes.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * i)));
  }
  void name(const ContentName& name) { bytes.insert(bytes.end(), name.bytes.begin(), name.bytes.end()); }
  void text(std::string_view text) { bytes.insert(bytes.end(), text.begin(), text.end()); }

  std::vector<std::uint8_t> bytes;
};

/// Reads values whose presence has been checked.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : m_bytes(bytes) {}

  template <class T>
  T number() {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
      value |= std::to_integer<std::uint64_t>(m_bytes[m_at + i]) << (8 * i);
    m_at += sizeof(T);
    return static_cast<T>(value);
  }
  ContentName name() {
    ContentName name;
    std::memcpy(name.bytes.data(), m_bytes.data() + m_at, name.bytes.size());
    m_at += name.bytes.size();
    return name;
  }
  std::string text(std::size_t size) {
    std::string text(size, ' ');
    if (size > 0) std::memcpy(text.data(), m_bytes.data() + m_at, size);
    m_at += size;
    return text;
  }
  bool isAt(std::string_view expected) { return text(expected.size()) == expected; }

 private:
  std::span<const std::byte> m_bytes;
  std::size_t m_at = 0;
};

std::span<const std::uint8_t> unsignedBytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

std::string shortened(std::string_view text) {
  return std::string(text.substr(0, kMostTextBytes));
}

/// Returns the fault of the bytes; empty if there is none, and then `head` has their contents.
std::string decode(std::span<const std::byte> bytes, PackHead& head, bool& isOtherVersion) {
  if (bytes.size() < kFixedBytes) return "a file of " + std::to_string(bytes.size()) + " bytes";
  Reader reader(bytes);
  if (!reader.isAt(kMagic)) return "another beginning than that of a pack";
  const auto version = reader.number<std::uint32_t>();
  isOtherVersion = version != kPackVersion;
  if (isOtherVersion) return "version " + std::to_string(version);
  const auto entries = reader.number<std::uint32_t>();
  const auto fileBytes = reader.number<std::uint64_t>();
  head.storedAt = reader.number<std::int64_t>();
  head.slotBytes = reader.number<std::uint32_t>();
  const auto fingerprintBytes = reader.number<std::uint32_t>();
  const auto modelBytes = reader.number<std::uint32_t>();
  const auto textBytes = reader.number<std::uint32_t>();
  if (fileBytes != bytes.size())
    return std::to_string(bytes.size()) + " bytes of " + std::to_string(fileBytes);
  const std::uint64_t headBytes = kFixedBytes + std::uint64_t{entries} * kEntryBytes +
                                  std::uint64_t{fingerprintBytes} + modelBytes + textBytes;
  if (fingerprintBytes > kMostTextBytes || modelBytes > kMostTextBytes || textBytes > kMostTextBytes ||
      headBytes + kChecksumBytes > bytes.size())
    return "a head that is longer than the file";
  Reader checksum(bytes.subspan(static_cast<std::size_t>(headBytes)));
  const auto high = checksum.number<std::uint64_t>();
  const auto low = checksum.number<std::uint64_t>();
  if (hash128(unsignedBytes(bytes.first(static_cast<std::size_t>(headBytes)))) != Hash128{high, low})
    return "a wrong checksum of the head";
  Reader table(bytes.subspan(kFixedBytes));
  head.entries.resize(entries);
  for (PackEntry& entry : head.entries) {
    entry.name = table.name();
    entry.parent = table.name();
    entry.offset = table.number<std::uint64_t>();
    entry.tokens = table.number<std::int32_t>();
    table.number<std::uint32_t>();
    entry.base = table.number<std::int64_t>();
    entry.checksum.high = table.number<std::uint64_t>();
    entry.checksum.low = table.number<std::uint64_t>();
    const bool isSound = entry.tokens > 0 && entry.tokens <= kMaxBlockSize &&
                         entry.offset % kAlignment == 0 && entry.offset <= bytes.size() &&
                         head.bytesOf(entry) <= bytes.size() - entry.offset;
    if (!isSound) return "a block outside of the file";
  }
  head.fingerprint = table.text(fingerprintBytes);
  head.model = table.text(modelBytes);
  head.text = table.text(textBytes);
  return {};
}

}  // namespace

std::uint64_t PackHead::tokens() const {
  std::uint64_t sum = 0;
  for (const PackEntry& entry : entries) sum += static_cast<std::uint64_t>(entry.tokens);
  return sum;
}

std::uint64_t packBytesOfBlock(std::size_t bytes) {
  return aligned(bytes) + kEntryBytes;
}

std::uint64_t packBytes(const PackHead& head) {
  const PackEntry& last = head.entries.back();
  return last.offset + head.bytesOf(last);
}

std::vector<std::uint8_t> encodePackHead(PackHead& head) {
  const std::string fingerprint = shortened(head.fingerprint);
  const std::string model = shortened(head.model);
  const std::string text = shortened(head.text);
  const std::size_t size =
      kFixedBytes + head.entries.size() * kEntryBytes + fingerprint.size() + model.size() + text.size();
  std::uint64_t at = aligned(size + kChecksumBytes);
  const std::uint64_t first = at;
  for (PackEntry& entry : head.entries) {
    entry.offset = at;
    at = aligned(at + head.bytesOf(entry));
  }
  Writer writer;
  writer.bytes.reserve(static_cast<std::size_t>(first));
  writer.text(kMagic);
  writer.number(kPackVersion);
  writer.number(static_cast<std::uint32_t>(head.entries.size()));
  writer.number(packBytes(head));
  writer.number(head.storedAt);
  writer.number(head.slotBytes);
  writer.number(static_cast<std::uint32_t>(fingerprint.size()));
  writer.number(static_cast<std::uint32_t>(model.size()));
  writer.number(static_cast<std::uint32_t>(text.size()));
  writer.bytes.resize(kFixedBytes);
  for (const PackEntry& entry : head.entries) {
    writer.name(entry.name);
    writer.name(entry.parent);
    writer.number(entry.offset);
    writer.number(entry.tokens);
    writer.number(std::uint32_t{0});
    writer.number(entry.base);
    writer.number(entry.checksum.high);
    writer.number(entry.checksum.low);
  }
  writer.text(fingerprint);
  writer.text(model);
  writer.text(text);
  const Hash128 checksum = hash128(writer.bytes);
  writer.number(checksum.high);
  writer.number(checksum.low);
  writer.bytes.resize(static_cast<std::size_t>(first));
  return std::move(writer.bytes);
}

std::shared_ptr<const Pack> Pack::open(const std::filesystem::path& path, PackFault& fault,
                                       std::string& what) {
  constexpr mode_t kOthers = 077;
  const auto refuse = [&](PackFault found, std::string why) {
    fault = found;
    what = std::move(why);
    return nullptr;
  };
  const auto systemError = [&] {
    const int error = errno;
    return refuse(error == ENOENT ? PackFault::Gone : PackFault::Unreadable,
                  std::generic_category().message(error));
  };
  fault = PackFault::None;
  const std::optional<ReadableFile> file = ReadableFile::open(path, LinkRule::Refuse);
  if (!file) return systemError();
  const struct stat& status = file->status();
  if (!file->isRegular() || status.st_uid != ::geteuid() || (status.st_mode & kOthers) != 0)
    return refuse(PackFault::Unreadable, "a file that is not this user's alone");
  std::optional<MappedBytes> bytes = file->map();
  if (!bytes) return systemError();
  if (bytes->get().empty()) return refuse(PackFault::Damaged, "an empty file");
  const std::shared_ptr<Pack> pack(new Pack(path, std::move(*bytes)));
  bool isOtherVersion = false;
  std::string wrong = decode(pack->m_bytes.get(), pack->m_head, isOtherVersion);
  if (pack->isCut()) return refuse(PackFault::Damaged, kCut);
  if (!wrong.empty())
    return refuse(isOtherVersion ? PackFault::OtherVersion : PackFault::Damaged, std::move(wrong));
  return pack;
}

void Pack::requireWhole() const {
  if (!isCut()) return;
  throw Failure({.file = m_path.string(),
                 .place = {},
                 .found = kCut,
                 .expected = "all " + counted(fileBytes(), "byte") + " that it had when it was opened"});
}

bool Pack::isIntact(const PackEntry& entry) const {
  return hash128(unsignedBytes(blockBytes(entry))) == entry.checksum;
}

}  // namespace spanscope::cache
