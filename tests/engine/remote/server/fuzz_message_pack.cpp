// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as instructions to write MessagePack: another program's reader reads back what was written, in
// the shortest form.
#include "engine/remote/server/kv_events.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

using spanscope::server::MessagePack;
using Json = nlohmann::json;

namespace {

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : m_data(data), m_left(size) {}

  bool isEmpty() const { return m_left == 0; }
  std::uint8_t byte() {
    if (m_left == 0) return 0;
    --m_left;
    return *m_data++;
  }
  std::uint64_t number() {
    // As often of few bytes as of many, so that every form is met.
    std::uint64_t value = 0;
    for (int i = byte() % 9; i > 0; --i) value = value << 8U | byte();
    return value;
  }
  std::string text() {
    std::string text;
    for (std::uint64_t i = number() % 70'000; i > 0; --i)
      text += static_cast<char>('a' + (m_left > 0 ? byte() % 26 : 0));
    return text;
  }

 private:
  const std::uint8_t* m_data;
  std::size_t m_left;
};

Json write(Bytes& bytes, MessagePack& pack, int depth) {
  switch (bytes.byte() % (depth < 6 ? 8 : 5)) {
    case 0: {
      const std::uint64_t value = bytes.number();
      pack.add(value);
      return value;
    }
    case 1: {
      const auto value = static_cast<std::int64_t>(bytes.number());
      pack.add(value);
      return value;
    }
    case 2: {
      const std::uint64_t bits = bytes.number();
      double value = 0;
      std::memcpy(&value, &bits, sizeof value);
      // No number is equal to itself but those that are one.
      if (value != value) value = 0;
      pack.add(value);
      return value;
    }
    case 3: {
      const std::string text = bytes.text();
      pack.add(std::string_view(text));
      return text;
    }
    case 4:
      pack.addNil();
      return nullptr;
    case 5: {
      Json list = Json::array();
      const std::size_t size = bytes.isEmpty() ? 0 : bytes.byte() % 40;
      pack.beginArray(size);
      for (std::size_t i = 0; i < size; ++i) list.push_back(write(bytes, pack, depth + 1));
      return list;
    }
    default: {
      Json map = Json::object();
      const bool isLong = bytes.byte() % 2 == 0;
      const std::size_t size = bytes.isEmpty() ? 0 : bytes.byte() % 40;
      isLong ? pack.beginLongMap(size) : pack.beginMap(size);
      for (std::size_t i = 0; i < size; ++i) {
        const std::string key = std::to_string(i);
        pack.add(std::string_view(key));
        map[key] = write(bytes, pack, depth + 1);
      }
      return map;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  MessagePack pack;
  const Json written = write(bytes, pack, 0);
  const Json read = Json::from_msgpack(pack.bytes(), true, false);
  if (read.is_discarded() || read != written) std::abort();
  return 0;
}
