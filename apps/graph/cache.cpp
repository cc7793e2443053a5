// SPDX-License-Identifier: Apache-2.0
// File of a cache: a header of 64-bit words, then the arrays of the edge list.

#include "apps/graph/cache.hpp"

#include "apps/graph/checksum.hpp"
#include "apps/support/output_file.hpp"
#include "apps/support/progress.hpp"
#include "apps/text/input_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

namespace graph {

namespace {

constexpr std::string_view magic = "wardengr";
/// Version of the format. It also changes if readers give another graph for a file.
constexpr std::uint64_t version = 2;

/// Properties of a file that show whether it has changed.
struct fingerprint {
  std::uint64_t bytes;
  std::int64_t modified_ns;
  std::uint64_t samples;  ///< checksum of evenly spaced pieces of the file
  friend bool operator==(fingerprint const&, fingerprint const&) = default;
};

fingerprint fingerprint_of(apps::input_file const& file) {
  constexpr std::uint64_t samples = 64;
  std::vector<char> piece(4096);
  fingerprint f{file.bytes(), file.modified_ns(), 0};
  std::uint64_t const last = f.bytes - std::min<std::uint64_t>(f.bytes, piece.size());
  for (std::uint64_t i = 0; i < samples; ++i) {
    // The pieces of a small file cover all of it.
    std::uint64_t const offset = std::min(last / (samples - 1) * i, last);
    std::uint64_t const at = i == samples - 1 ? last : offset;
    f.samples = checksum(piece.data(), file.read_at(at, piece.data(), piece.size()), f.samples);
  }
  return f;
}

struct header {
  std::array<char, 8> magic;
  std::uint64_t version;
  fingerprint source;
  std::uint64_t format, weight_factor, skips_weights;  // the read_options
  std::uint64_t vertices, edges, weights, names;
  std::uint64_t directed, first_name;
  std::uint64_t has_ends, source_vertex, sink_vertex;
  std::uint64_t arrays;  // checksum of the arrays
  std::uint64_t check;   // checksum of the words above

  [[nodiscard]] std::uint64_t sum() const { return checksum(this, offsetof(header, check)); }
  [[nodiscard]] std::uint64_t array_words() const { return 2 * edges + weights + names; }
};
static_assert(sizeof(header) == 19 * 8, "no padding: it is written and summed as it is");

/// Returns the header without its checksums.
header header_of(edge_list const& g, fingerprint const& source, read_options const& o) {
  header h{};
  std::copy(magic.begin(), magic.end(), h.magic.begin());
  h.version = version;
  h.source = source;
  h.format = o.format ? 1 + static_cast<std::uint64_t>(*o.format) : 0;
  h.weight_factor = std::bit_cast<std::uint64_t>(o.weight_factor);
  h.skips_weights = o.skips_weights ? 1 : 0;
  h.vertices = g.vertices;
  h.edges = g.edges();
  h.weights = g.weights.size();
  h.names = g.names.size();
  h.directed = g.directed ? 1 : 0;
  h.first_name = g.first_name;
  h.has_ends = g.ends ? 1 : 0;
  if (g.ends) {
    h.source_vertex = g.ends->source;
    h.sink_vertex = g.ends->sink;
  }
  return h;
}

/// Reason not to use a cache.
struct unusable {
  std::string why;
  bool is_ours = true;  ///< true if it may be overwritten
};

/// Returns a valid header.
header read_header(apps::input_file const& file, fingerprint const& source, read_options const& o) {
  header h{};
  std::size_t const got = file.read_at(0, &h, sizeof h);
  std::size_t const named = std::min(got, magic.size());
  if (std::string_view{h.magic.data(), named} != magic.substr(0, named))
    throw unusable{"is no cache of a graph", false};
  if (got < sizeof h) throw unusable{"is cut off"};
  if (h.version != version) throw unusable{"is of another version"};
  if (h.check != h.sum()) throw unusable{"is damaged"};
  header const wanted = header_of({}, source, o);
  if (h.source != source) throw unusable{"is of an older state of the file"};
  // A command that skips weights accepts a cache with any weights.
  bool const has_weights = h.skips_weights == 0 && h.weight_factor == wanted.weight_factor;
  if (h.format != wanted.format || !(o.skips_weights || has_weights))
    throw unusable{"was read with other options"};
  if (h.array_words() * sizeof(std::uint32_t) + sizeof h != file.bytes())
    throw unusable{"is cut off"};
  return h;
}

/// Calls `f(data, bytes)` for pieces of all arrays, and shows the progress.
template <class List, class F>
void for_arrays(List& g, std::string const& what, F f) {
  constexpr std::size_t piece = std::size_t{16} << 20;
  std::size_t done = 0;
  auto const all = {&g.from, &g.to, &g.weights, &g.names};
  std::size_t bytes = 0;
  for (auto* const array : all) bytes += array->size() * sizeof(std::uint32_t);
  apps::progress bar{what, bytes};
  for (auto* const array : all) {
    for (std::size_t at = 0; at < array->size(); at += piece) {
      std::size_t const part = std::min(piece, array->size() - at) * sizeof(std::uint32_t);
      f(array->data() + at, part);
      bar.advance_to(done += part);
    }
  }
}

edge_list read_cache(std::string const& path, fingerprint const& source, read_options const& o) {
  apps::input_file const file{path};
  header const h = read_header(file, source, o);
  edge_list g;
  g.vertices = h.vertices;
  g.directed = h.directed != 0;
  g.first_name = static_cast<vertex>(h.first_name);
  if (h.has_ends != 0)
    g.ends = {static_cast<vertex>(h.source_vertex), static_cast<vertex>(h.sink_vertex)};
  g.from.resize(h.edges);
  g.to.resize(h.edges);
  g.weights.resize(h.weights);
  g.names.resize(h.names);
  std::uint64_t offset = sizeof h, sum = 0;
  for_arrays(g, "reading " + path, [&](void* to, std::size_t bytes) {
    if (file.read_at(offset, to, bytes) != bytes) throw unusable{"is cut off"};
    offset += bytes;
    sum = checksum(to, bytes, sum);
  });
  if (sum != h.arrays) throw unusable{"is damaged"};
  if (o.skips_weights) g.weights = {};
  return g;
}

void write_cache(std::string const& path, edge_list const& g, fingerprint const& source,
                 read_options const& o) {
  header h = header_of(g, source, o);
  for_arrays(g, "", [&](void const* from, std::size_t bytes) {
    h.arrays = checksum(from, bytes, h.arrays);
  });
  h.check = h.sum();
  apps::output_file file{path};
  file.write(&h, sizeof h);
  for_arrays(g, "writing " + path,
             [&](void const* from, std::size_t bytes) { file.write(from, bytes); });
  file.commit();
}

}  // namespace

std::string cache_path(std::string const& path, std::string const& folder) {
  if (folder.empty()) return path + ".graph";
  std::string const whole = std::filesystem::absolute(path).lexically_normal();
  char text[20];
  std::snprintf(text, sizeof text, ".%016llx",
                static_cast<unsigned long long>(checksum(whole.data(), whole.size())));
  std::string const name = std::filesystem::path{path}.filename().string() + text + ".graph";
  return std::filesystem::path{folder} / name;
}

edge_list read_cached(std::string const& path, std::string const& folder, read_options const& o,
                      std::function<void(std::string const&)> const& say) {
  std::error_code none;  // ignored: a name that cannot be looked up is no regular file
  // A pipe can be read only once. The reader reports names that are no files.
  if (!std::filesystem::is_regular_file(path, none)) return read_graph(path, o);
  fingerprint const source = fingerprint_of(apps::input_file{path});
  std::string const cache = cache_path(path, folder);
  bool may_write = true;
  if (std::filesystem::exists(cache, none)) {
    try {
      return read_cache(cache, source, o);
    } catch (unusable const& e) {
      say(cache + ": " + e.why + (e.is_ours ? "" : ", and stays as it is") + "; reading " + path);
      may_write = e.is_ours;
    } catch (std::runtime_error const& e) {
      say(std::string{e.what()} + "; reading " + path);
    }
  }
  edge_list g = read_graph(path, o);
  if (!may_write) return g;
  try {
    // Write no cache for a file that changed while it was read.
    if (fingerprint_of(apps::input_file{path}) != source) return g;
    if (!folder.empty()) std::filesystem::create_directories(folder);
    write_cache(cache, g, source, o);
  } catch (std::exception const& e) {
    say(e.what());
  }
  return g;
}

}  // namespace graph
