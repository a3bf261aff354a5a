// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the tokenizer's part of the header of a GGUF file. Format: "GGUF", version, number of tensors, number
// of key/values, then the key/values (docs/gguf.md of ggml). All numbers are little-endian.
#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::checkpoint {

/// One value. Integers of every width become 64-bit integers, and floating-point numbers become doubles.
using GgufValue = std::variant<std::int64_t, double, bool, std::string, std::vector<std::int64_t>,
                               std::vector<double>, std::vector<std::string>>;

/// The key/values with keys that begin with "tokenizer.". The getters name the key in errors.
class GgufMetadata {
 public:
  /// Reads from the beginning of a stream of `size` bytes. `file` is the name in errors. Values of other keys
  /// are skipped. Accepts the versions 2 and 3. Throws Failure.
  static GgufMetadata read(std::istream& stream, std::uint64_t size, const std::string& file);
  /// The same for a file.
  static GgufMetadata read(const std::filesystem::path& path);

  const std::string& file() const { return m_file; }

  /// Null if there is no such key. Throws Failure if the value has another type.
  const std::string* text(const std::string& key) const { return find<std::string>(key, "a text"); }
  const std::vector<std::string>* texts(const std::string& key) const {
    return find<std::vector<std::string>>(key, "a list of texts");
  }
  const std::vector<std::int64_t>* integers(const std::string& key) const {
    return find<std::vector<std::int64_t>>(key, "a list of whole numbers");
  }
  const std::vector<double>* numbers(const std::string& key) const {
    return find<std::vector<double>>(key, "a list of numbers");
  }
  const std::int64_t* integer(const std::string& key) const {
    return find<std::int64_t>(key, "a whole number");
  }
  const bool* boolean(const std::string& key) const { return find<bool>(key, "true or false"); }

 private:
  template <class T>
  const T* find(const std::string& key, const char* expected) const {
    const auto found = m_values.find(key);
    if (found == m_values.end()) return nullptr;
    const T* value = std::get_if<T>(&found->second);
    if (value == nullptr) failType(key, expected);
    return value;
  }
  [[noreturn]] void failType(const std::string& key, const char* expected) const;

  std::string m_file;
  std::map<std::string, GgufValue> m_values;
};

}  // namespace spanscope::checkpoint
