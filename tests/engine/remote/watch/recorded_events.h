// SPDX-License-Identifier: GPL-3.0-or-later
// Reads recorded messages and requests of a live vLLM (golden/vllm-events and golden/vllm-live).
#pragma once

#include <zlib.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::watch {

/// The bytes of a file that gzip has packed; empty if the file is missing.
inline std::string gzipBytes(const char* path) {
  std::string bytes;
  gzFile file = gzopen(path, "rb");
  if (file == nullptr) return bytes;
  std::array<char, 65536> part{};
  for (int count = gzread(file, part.data(), part.size()); count > 0;
       count = gzread(file, part.data(), part.size()))
    bytes.append(part.data(), static_cast<std::size_t>(count));
  gzclose(file);
  return bytes;
}

/// The lines of such a file.
inline std::vector<std::string> gzipLines(const char* path) {
  std::vector<std::string> lines;
  const std::string text = gzipBytes(path);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

struct RecordedMessage {
  std::uint64_t number = 0;
  std::string payload;
};

/// The messages of a file: the number of frames and the length of each frame take 4 bytes, the lowest first.
inline std::vector<RecordedMessage> recordedMessages(const char* path) {
  const std::string bytes = gzipBytes(path);
  std::size_t at = 0;
  const auto size = [&] {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < 4; ++i)
      value |= std::uint32_t{static_cast<std::uint8_t>(bytes.at(at++))} << (8 * i);
    return value;
  };
  std::vector<RecordedMessage> messages;
  while (at < bytes.size()) {
    std::vector<std::string> frames;
    for (std::uint32_t left = size(); left > 0; --left) {
      const std::uint32_t length = size();
      frames.push_back(bytes.substr(at, length));
      at += length;
    }
    if (frames.size() < 3 || frames.back().empty()) continue;
    RecordedMessage& message = messages.emplace_back();
    for (const char byte : frames[frames.size() - 2])
      message.number = message.number << 8U | static_cast<std::uint8_t>(byte);
    message.payload = frames.back();
  }
  return messages;
}

}  // namespace spanscope::watch
